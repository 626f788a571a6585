// expect: fails
class Loud extends Promise { then(...values) { super.then(...values); return this.then(...values) } }
return await Loud.resolve(1);
