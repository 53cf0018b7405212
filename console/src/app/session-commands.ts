/** What the palette does with the open conversation, beside what every list of conversations offers. */
import type { SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { forkSession, resumeTurn } from '../data/chat.js';
import { copyText } from '../ui/copy-button.js';
import { navigate } from '../ui/router.js';
import { toast } from '../ui/toast.js';

export async function fork({ id }: SessionWire, done: string): Promise<void> {
  await told(async () => {
    const copy = await forkSession(id);
    navigate(`#/chat/${encodeURIComponent(copy.id)}`);
    toast(done, 'ok');
  });
}

export async function resume({ id }: SessionWire, done: string): Promise<void> {
  await told(async () => {
    await resumeTurn(id);
    toast(done, 'ok');
  });
}

export async function copyLink(done: string): Promise<void> {
  await told(async () => {
    await copyText(location.href);
    toast(done, 'ok');
  });
}

async function told(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'danger');
  }
}
