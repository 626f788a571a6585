// expect: any
"use strict"; "use asm"; "\07";
return this === undefined;
