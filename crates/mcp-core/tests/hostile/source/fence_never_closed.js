// expect: any
```js
return 1
