// expect: fails
return <div onClick={() => { for (;;); }}>{1}</div>;
