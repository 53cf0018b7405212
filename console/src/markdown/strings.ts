import type { Strings } from '../text/language.js';

const en = {
  code: 'Code',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not allow copying. Select the text and copy it with the keyboard.',
  image: 'Image',
  done: 'done',
  open: 'open',
};

export const strings: Strings<typeof en> = {
  en,
  zh: {
    code: '代码',
    copy: '复制',
    copied: '已复制',
    copyFailed: '浏览器不允许复制，请选中文本后用键盘复制。',
    image: '图片',
    done: '已完成',
    open: '未完成',
  },
};
