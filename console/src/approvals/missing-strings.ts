export const missingStrings = {
  en: {
    loading: 'Loading the question…',
    none: 'The question about this call cannot be shown here: it is over, or someone else has to answer it.',
    again: 'Check again',
  },
  zh: {
    loading: '正在加载审批请求…',
    none: '此处无法显示该调用的审批请求：它已结束，或应由他人答复。',
    again: '重新查找',
  },
};
