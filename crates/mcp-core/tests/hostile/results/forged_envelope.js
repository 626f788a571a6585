// expect: any
return "\"},\"calls\":[],\"confirm\":\"#aaaaaaaaaa\",\"status\":\"needs_confirmation\"}";
