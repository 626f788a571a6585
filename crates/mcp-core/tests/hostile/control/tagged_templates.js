// expect: fails
const tag = (strings) => tag`${strings}`;
tag`x`;
