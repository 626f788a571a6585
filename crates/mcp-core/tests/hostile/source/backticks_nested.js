// expect: any
return `${`${`${`${`${`${`${`deep`}`}`}`}`}`}`}`;
