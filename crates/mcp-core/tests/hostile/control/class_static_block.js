// expect: fails
class Loop { static { for (;;); } }
