/** Whether this browser is asked while no page is open: a subscription of its push service, kept by the gateway. */
import type { BrowsersWire } from '../../../src/server/console-api/wire/push.js';
import { get, post, remove } from '../data/api.js';

const PATH = '/api/push';

export const canPush = (): boolean => 'PushManager' in globalThis && 'serviceWorker' in navigator;

/** False also where the gateway has forgotten it, or the browser signed in with another key. */
export async function isPushed(): Promise<boolean> {
  const own = await subscribed();
  if (own === null) return false;
  const { data } = await get<BrowsersWire>(PATH);
  return data.some(({ endpoint }) => endpoint === own.endpoint);
}

/** Only from a click, and where notifications are allowed. */
export async function startPush(): Promise<void> {
  const { public_key } = await get<BrowsersWire>(PATH);
  const worker = await navigator.serviceWorker.ready;
  // One that was made with other keys, of another gateway at this address, is of no use.
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: public_key };
  await post(PATH, (await worker.pushManager.subscribe(options)).toJSON());
}

/** `everywhere`: all browsers of the key. */
export async function stopPush({ everywhere = false } = {}): Promise<void> {
  const own = canPush() ? await subscribed() : null;
  if (own === null && !everywhere) return;
  const { data } = await get<BrowsersWire>(PATH);
  const gone = data.filter(({ endpoint }) => everywhere || endpoint === own?.endpoint);
  await Promise.all(gone.map(({ id }) => remove(`${PATH}/${encodeURIComponent(id)}`)));
  await own?.unsubscribe();
}

async function subscribed(): Promise<PushSubscription | null> {
  const worker = await navigator.serviceWorker.getRegistration();
  return (await worker?.pushManager.getSubscription()) ?? null;
}
