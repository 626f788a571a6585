// expect: any
﻿return﻿1﻿;
