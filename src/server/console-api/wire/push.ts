/** Browsers that are asked while no page is open, as `/api/push` shows them to their key. */

export interface BrowsersWire {
  /** What a browser subscribes with: the public part of the VAPID keys. */
  public_key: string;
  data: BrowserWire[];
}

interface BrowserWire {
  id: string;
  /** By which a page recognises its own. */
  endpoint: string;
  created_at: string;
}
