// expect: any
let length = 0;
for (const { id } of api.operations) length += api.describe(id).length;
return length;
