// expect: any
Here it is:
```js
return "```";
```
and
```python
print(1)
```
