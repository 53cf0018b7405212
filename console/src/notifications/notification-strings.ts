export const notificationStrings = {
  en: {
    title: 'Notifications',
    approvals: 'When an agent is waiting for a decision',
    turnEnds: 'When an answer I asked for is ready',
    ask: 'The browser will ask for permission first.',
    denied:
      'This browser has blocked notifications for this address. Allow them in the site settings (the icon beside the address), then reload.',
    unsupported: 'This browser does not show notifications for this address.',
  },
  zh: {
    title: '通知',
    approvals: '智能体等待审批时',
    turnEnds: '我的对话回答完成时',
    ask: '浏览器会先请求授权。',
    denied: '浏览器已屏蔽此地址的通知。请在网站设置（地址栏旁的图标）中允许通知，然后刷新页面。',
    unsupported: '此浏览器无法为该地址显示通知。',
  },
};
