/**
 * The words the demo model knows, as data. A concept joins words that ask for the same thing in
 * English and Chinese; `weak` words hint at it but also mean other things.
 */

export interface Concept {
  id: string;
  strong: string;
  weak?: string;
}

export const CONCEPTS: readonly Concept[] = [
  {
    id: 'calculate',
    strong:
      'calculate calculator calc compute computation math maths arithmetic evaluate eval expression equation formula solve 计算 计算器 运算 数学 算术 求值 表达式 算式 公式 計算 算一下 算',
    weak: 'result 结果 等于 多少',
  },
  { id: 'add', strong: 'add addition sum plus 加 加法 相加 求和 加上 之和', weak: 'total 总和 总共' },
  { id: 'subtract', strong: 'subtract subtraction minus difference 减 减法 减去 相减', weak: 'less' },
  { id: 'multiply', strong: 'multiply multiplication times product 乘 乘法 乘以 相乘', weak: '' },
  { id: 'divide', strong: 'divide division quotient 除 除法 除以 相除', weak: 'over' },
  {
    id: 'weather',
    strong:
      'weather forecast temperature climate rain rainy raining snow snowing sunny humidity umbrella 天气 气温 温度 天气预报 预报 下雨 下雪 天氣 氣溫 带伞',
    weak: 'hot cold warm wind conditions 冷 热 风',
  },
  {
    id: 'search',
    strong: 'search lookup google find query seek 搜索 搜 搜一下 查找 检索 搜寻 搜尋 查询 查一下 找 找到 查',
    weak: 'look information about 资料 信息 关于',
  },
  {
    id: 'web',
    strong: 'web internet online website webpage browse browser 网页 网络 网上 互联网 网站 上网',
    weak: 'page site link 链接 页面',
  },
  { id: 'url', strong: 'url http https link uri 网址 链接', weak: '' },
  {
    id: 'fetch',
    strong: 'fetch download retrieve crawl scrape 抓取 获取 下载',
    weak: 'open visit 打开 访问',
  },
  { id: 'news', strong: 'news headline headlines 新闻 头条 消息', weak: 'latest 最新' },
  {
    id: 'read',
    strong: 'read reader cat 读 读取 阅读 读一下',
    weak: 'show view open display content contents print inside 查看 打开 看看 看一下 显示 内容 看',
  },
  {
    id: 'write',
    strong: 'write writer save store 写 写入 写到 保存 存到',
    weak: 'create make new put 创建 新建 生成',
  },
  {
    id: 'create',
    strong: 'create generate insert register 创建 新建 生成 新增 添加 建',
    weak: 'add make new open 加',
  },
  {
    id: 'edit',
    strong: 'edit editor modify replace substitute 修改 编辑 替换 改成 改为 换成',
    weak: 'change fix update 改 更新',
  },
  { id: 'update', strong: 'update set modify patch 更新 设置 修改', weak: 'change 改' },
  { id: 'delete', strong: 'delete remove erase destroy 删除 移除 删掉 清除', weak: 'clear drop cancel 取消' },
  {
    id: 'list',
    strong: 'list ls glob enumerate 列出 列表 列举 列一下',
    weak: 'show all which 有哪些 哪些 所有 全部',
  },
  { id: 'file', strong: 'file files document 文件 文档 檔案', weak: 'path filename 路径' },
  { id: 'folder', strong: 'folder directory dir ls 目录 文件夹', weak: '' },
  {
    id: 'run',
    strong: 'run execute exec bash shell terminal command cmd 运行 执行 命令 终端 命令行',
    weak: 'script start launch invoke 脚本 启动',
  },
  {
    id: 'grep',
    strong: 'grep regex occurrence occurrences 正则 正则表达式 匹配',
    weak: 'pattern match contain containing contains search find 包含 搜索 查找',
  },
  { id: 'code', strong: 'code program python javascript 代码 程序', weak: 'function class 函数' },
  { id: 'time', strong: 'time clock timezone 时间 几点 时区 幾點', weak: 'now current hour 现在 当前' },
  { id: 'date', strong: 'date day calendar weekday 日期 几号 星期几 日历', weak: 'today 今天' },
  {
    id: 'translate',
    strong: 'translate translation translator 翻译 译成 翻成 翻譯',
    weak: 'language 语言 成',
  },
  {
    id: 'email',
    strong: 'email mail inbox e-mail 邮件 电子邮件 邮箱 发邮件 写邮件',
    weak: 'message send 发送 发',
  },
  {
    id: 'message',
    strong: 'message sms text notify notification chat slack 消息 短信 通知 留言 发消息 发短信',
    weak: 'tell say 告诉',
  },
  { id: 'send', strong: 'send deliver forward mail 发送 寄 发给 发一封 发一条 发', weak: 'email message' },
  { id: 'remind', strong: 'remind reminder alarm alert 提醒 闹钟', weak: 'remember 记得' },
  { id: 'timer', strong: 'timer countdown 计时器 倒计时 计时', weak: 'minutes seconds 分钟 秒' },
  {
    id: 'event',
    strong: 'event meeting appointment schedule calendar 会议 日程 预约 安排 日历',
    weak: 'book plan 计划',
  },
  { id: 'stock', strong: 'stock share shares ticker quote 股票 股价 行情', weak: 'price market 价格' },
  { id: 'price', strong: 'price cost 价格 多少钱 价钱', weak: 'much expensive 贵' },
  {
    id: 'currency',
    strong: 'currency exchange forex 汇率 货币 兑换 换算 外汇',
    weak: 'convert dollar dollars euro euros yuan rate 美元 欧元 人民币 日元',
  },
  {
    id: 'convert',
    strong: 'convert conversion converter transform 转换 换算 转成',
    weak: 'to unit units 单位',
  },
  {
    id: 'route',
    strong: 'route direction directions navigate navigation distance map 路线 导航 地图 距离',
    weak: 'way far drive 怎么走 多远 去',
  },
  { id: 'flight', strong: 'flight flights plane airline 航班 机票 飞机', weak: 'fly 飞' },
  { id: 'hotel', strong: 'hotel room accommodation 酒店 宾馆 旅馆', weak: 'stay 住' },
  { id: 'restaurant', strong: 'restaurant food dinner 餐厅 饭店 美食', weak: 'eat table 吃' },
  { id: 'book', strong: 'book reserve reservation booking 预订 预定 订', weak: 'order' },
  { id: 'order', strong: 'order purchase 订单 下单', weak: 'buy package 买 购买' },
  { id: 'status', strong: 'status state progress 状态 进度', weak: 'track where 跟踪' },
  {
    id: 'user',
    strong: 'user customer account profile contact employee 用户 客户 账户 账号 联系人',
    weak: 'person who 谁',
  },
  { id: 'play', strong: 'play music song playlist 播放 音乐 歌曲 歌', weak: 'listen 听' },
  {
    id: 'image',
    strong: 'image picture photo draw paint illustration 图片 图像 照片 画 绘制 生成图片',
    weak: 'generate 生成',
  },
  { id: 'summarize', strong: 'summarize summarise summary 总结 摘要 概括 归纳', weak: 'short brief' },
  { id: 'database', strong: 'database sql table query 数据库 数据表', weak: 'data rows 数据' },
  { id: 'todo', strong: 'todo todos 待办 待办事项', weak: 'list task tasks 任务' },
  { id: 'note', strong: 'note notes memo 笔记 备忘 备忘录', weak: 'remember write 记' },
  { id: 'memory', strong: 'memory remember recall memorize 记住 记忆', weak: 'forget' },
  { id: 'joke', strong: 'joke funny 笑话 段子', weak: '' },
  { id: 'random', strong: 'random dice roll coin flip 随机 骰子 掷', weak: 'number' },
  { id: 'define', strong: 'define definition dictionary 定义 字典 词典', weak: 'mean meaning word 意思' },
  {
    id: 'light',
    strong: 'light lights lamp switch thermostat 灯 开关 空调',
    weak: 'turn device 开 关 打开 关闭 关掉 开启',
  },
  { id: 'git', strong: 'git commit branch diff 提交 分支', weak: 'repo repository 仓库' },
  { id: 'test', strong: 'test tests 测试', weak: 'check 检查' },
  { id: 'issue', strong: 'issue ticket bug 工单 缺陷 问题单', weak: 'report problem 问题' },
  { id: 'agent', strong: 'agent subagent delegate 代理 子代理', weak: 'task explore 探索' },
  { id: 'ask', strong: 'ask question 提问 询问', weak: '问' },
  { id: 'count', strong: 'count length 计数 统计 数一下', weak: 'many number 个数' },
  { id: 'location', strong: 'location place city 位置 城市 地点', weak: 'where 哪里 在哪' },
];

/** Words that say nothing about which tool is meant, in texts and in tool names. */
export const STOP_WORDS =
  'a an the this that these those it its is are was were be been am do does did done have has had will would can could should may might must shall ' +
  'i me my mine you your we us our they them their he she his her who whom what which when where why how ' +
  'and or but if then else so than as at by for from in into of off on onto out over to up with without about near between around under per via ' +
  'please thanks thank hello hi hey ok okay yes no not just only also too very really want wanna need like let lets give tell get got using use used uses ' +
  'tool tools function functions call calls api service given gets returns return provide provides providing allow allows any some all each every one other another ' +
  'there here now today tomorrow whats hows im ill id user users right away quickly currently current latest new';

/** English words in front of a request that are not part of it. */
export const POLITE_PREFIXES: readonly string[] = [
  'please',
  'kindly',
  'hey',
  'hi',
  'hello',
  'ok',
  'okay',
  'so',
  'now',
  'then',
  'also',
  'and',
  'can you',
  'could you',
  'would you',
  'will you',
  'can i',
  'could i',
  'i want you to',
  'i would like you to',
  "i'd like you to",
  "i'd like to",
  'i would like to',
  'i want to',
  'i need you to',
  'i need to',
  'i need',
  'i want',
  'help me',
  'help me to',
  'let us',
  "let's",
  'go and',
  'go ahead and',
  'try to',
  'use the tool to',
  'tell me',
  'show me',
  'give me',
  'get me',
  'do you know',
  'what is',
  "what's",
  'what are',
  'how is',
  "how's",
  'where is',
  'who is',
];

/** Prepositions that name a thing behind them. */
export const PREPOSITIONS =
  'in for at near of from to about around on with into inside within between by under regarding named called titled';

/** Times and manner, which end a name: "in Paris today", "for Rome please". */
export const NAME_ENDS =
  'celsius fahrenheit kelvin metric imperial degrees january february march april may june july august september october november december today tomorrow tonight yesterday now currently please right this next last week weekend month year morning afternoon evening night monday tuesday wednesday thursday friday saturday sunday ' +
  'and or but then also plus vs versus using use via saying says that which who is are was were be will would can could should do does if when while where how what why not so than as it be like has have';

/** Words that may stand at the beginning of a name without being part of it. */
export const ARTICLES = 'the a an my our your this that these some any all me us';

/** Chinese words that carry no content, the longest match wins. */
export const ZH_FILLERS =
  '标题 标题为 标题是 主题 主题为 名称 内容为 内容是 请 请问 請 請問 帮 帮我 帮忙 幫我 麻烦 麻烦你 给我 告诉我 告诉 我 我们 我想 我要 我想要 我想知道 想 想要 想知道 知道 了解 需要 能 能不能 能否 可以 可不可以 可否 一下 一个 一条 一封 一份 这个 那个 这 那 ' +
  '什么 怎么 怎样 怎么样 怎麼樣 如何 多少 几 哪 哪个 为什么 是 是什么 是多少 有 没有 会 会不会 要 吗 嗎 呢 吧 啊 呀 的 地 得 了 着 过 把 被 让 用 使用 通过 都 就 还 也 很 最 好 你 您 他 她 它 它们 谢谢 你好 您好 里 里面 里的 中 中的 上 上的 下 内 个 些 次 点 个的 情况 名为 叫做 叫 名字 之间 同时 分别 各自 一起 先 现在的 目前的';

/** Of the words of one character, those that rarely stand inside a longer word or a name. */
export const ZH_SINGLES =
  '请 請 我 你 您 的 了 吗 嗎 呢 吧 是 在 从 对 给 把 和 与 跟 查 搜 找 读 写 去 会 有 想 要 用 向 往 到 、 或 及 再 并';

/** Places, so that 上海 is not cut at 上. */
export const ZH_PLACES =
  '北京 上海 广州 深圳 天津 重庆 成都 杭州 南京 武汉 西安 苏州 长沙 郑州 青岛 大连 厦门 宁波 济南 沈阳 哈尔滨 长春 昆明 贵阳 南宁 海口 三亚 拉萨 乌鲁木齐 兰州 银川 西宁 呼和浩特 太原 石家庄 合肥 南昌 福州 台北 高雄 香港 澳门 ' +
  '中国 美国 英国 法国 德国 日本 韩国 俄罗斯 印度 加拿大 澳大利亚 意大利 西班牙 葡萄牙 巴西 新加坡 泰国 越南 东京 大阪 京都 首尔 纽约 洛杉矶 旧金山 华盛顿 芝加哥 西雅图 波士顿 伦敦 巴黎 柏林 慕尼黑 罗马 米兰 马德里 巴塞罗那 里斯本 莫斯科 悉尼 墨尔本 多伦多 温哥华 曼谷 河内 新德里 孟买 迪拜 开罗 阿姆斯特丹 布鲁塞尔 维也纳 苏黎世 日内瓦 雅典 伊斯坦布尔 斯德哥尔摩 哥本哈根 赫尔辛基 奥斯陆';

/** Chinese words in front of the thing they name. */
export const ZH_PREPOSITIONS = '在 从 到 对 给 向 往 去 关于 至 为 跟 和 与 由';

export const ZH_TIMES =
  '今天 明天 后天 昨天 现在 目前 当前 最近 本周 这周 下周 上周 周末 今晚 明早 早上 上午 中午 下午 晚上 今年 明年 本月 下个月 周一 周二 周三 周四 周五 周六 周日 星期一 星期二 星期三 星期四 星期五 星期六 星期天 未来';

/** Between two things of a list, or between two requests. */
export const ZH_CONJUNCTIONS = '和 与 跟 以及 及 还有 或 或者 、 并且 并 然后 接着 再 另外 而且';

/** English phrases that are one word for the tables above. */
export const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\blook(?:ing)?\s+up\b/gi, 'lookup'],
  [/\bdivided\s+by\b/gi, 'divide'],
  [/\bmultiplied\s+by\b/gi, 'multiply'],
  [/\bturn\s+(?:on|off)\b/gi, 'switch'],
  [/\be-mails?\b/gi, 'email'],
  [/\bto-do\b/gi, 'todo'],
  [/\btake\s+place\b/gi, 'happen'],
];

/** Files that people name without an extension. */
export const KNOWN_FILES =
  'README Makefile Dockerfile LICENSE CHANGELOG CONTRIBUTING Gemfile Procfile Justfile';

export const KNOWN_FOLDERS =
  'src lib test tests docs dist bin build scripts app packages public assets examples config node_modules';

/** Programs a shell command begins with. */
export const PROGRAMS =
  'npm npx node yarn pnpm bun deno git ls cd pwd python python3 pip pip3 docker kubectl cmake cargo rustc javac mvn gradle curl wget grep rg sed awk wc uniq ps df du uname whoami chmod chown mkdir rmdir rm cp mv tar zip unzip ssh scp rsync tsc vitest jest pytest eslint ruby perl php bash sh zsh jq';

/** Programs whose names are also words: only a command where a flag or a path follows, or behind "run". */
export const WORD_PROGRAMS =
  'cat echo make go java find head tail sort diff kill free top date env export touch tree which biome';

/** Names of languages, with their codes. */
export const LANGUAGES: readonly (readonly [code: string, names: string])[] = [
  ['en', 'English 英语 英文'],
  ['zh', 'Chinese Mandarin 中文 汉语 普通话'],
  ['fr', 'French 法语 法文'],
  ['de', 'German 德语 德文'],
  ['es', 'Spanish 西班牙语'],
  ['it', 'Italian 意大利语'],
  ['pt', 'Portuguese 葡萄牙语'],
  ['ru', 'Russian 俄语'],
  ['ja', 'Japanese 日语 日文'],
  ['ko', 'Korean 韩语 韩文'],
  ['ar', 'Arabic 阿拉伯语'],
  ['hi', 'Hindi 印地语'],
  ['nl', 'Dutch 荷兰语'],
  ['pl', 'Polish 波兰语'],
  ['tr', 'Turkish 土耳其语'],
  ['vi', 'Vietnamese 越南语'],
  ['th', 'Thai 泰语'],
  ['sv', 'Swedish 瑞典语'],
  ['el', 'Greek 希腊语'],
  ['la', 'Latin 拉丁语'],
];

/** Names of currencies, with their codes. */
export const CURRENCIES: readonly (readonly [code: string, names: string])[] = [
  ['USD', 'dollar dollars bucks 美元 美金'],
  ['EUR', 'euro euros 欧元'],
  ['GBP', 'pound pounds sterling 英镑'],
  ['JPY', 'yen 日元'],
  ['CNY', 'yuan renminbi rmb 人民币 元'],
  ['INR', 'rupee rupees 卢比'],
  ['KRW', 'won 韩元'],
  ['CHF', 'franc francs 法郎'],
  ['HKD', '港币 港元'],
  ['BTC', 'bitcoin bitcoins 比特币'],
  ['CAD', ''],
  ['AUD', ''],
];

/** Countries and regions: "Paris, France" is one place, "Paris, Rome" are two. */
export const REGIONS =
  'France Germany Italy Spain Portugal England Scotland Ireland UK USA US Canada Mexico Brazil Argentina Chile China Japan Korea India Australia Austria Switzerland Belgium Netherlands Poland Russia Ukraine Sweden Norway Finland Denmark Greece Turkey Egypt Kenya Nigeria Thailand Vietnam Indonesia Malaysia Philippines Taiwan California Texas Florida Washington Oregon Illinois Ohio Georgia Virginia Massachusetts Ontario Quebec Bavaria';
