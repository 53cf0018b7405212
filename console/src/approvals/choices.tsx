/** The answers to a question that is no form: allow, always, deny, edit. */
import { useRef } from 'react';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import type { Arming } from './arming.js';
import type { FormProps } from './deny-form.js';
import type { Draft } from './drafts.js';
import { strings } from './strings.js';
import { useKeys } from './use-keys.js';

interface ChoicesProps extends Pick<FormProps, 'deciding' | 'change'> {
  guard: Arming['guard'];
}

export function Choices({ deciding, change, guard }: ChoicesProps) {
  const text = useText(strings);
  const { busy, sent, approval } = deciding;
  const { hints } = approval;
  const sending = busy ? sent?.decision : undefined;
  const careful = hints.default_to_no;
  const first = useRef<HTMLButtonElement>(null);
  const allow = guard(() => void deciding.send({ decision: 'allow' }));
  const deny = guard(() => void deciding.send({ decision: 'deny' }));
  const opening = (mode: Draft['mode']) => () => change({ mode });
  // What an engine advises against is not allowed by a single key.
  useKeys(
    first,
    busy
      ? {}
      : {
          y: careful ? undefined : allow,
          n: deny,
          a: hints.suppress_always ? undefined : opening('always'),
          e: opening('edit'),
        },
  );
  return (
    <>
      <Button
        ref={first}
        variant={careful ? 'plain' : 'primary'}
        busy={sending === 'allow'}
        disabled={sending === 'deny'}
        aria-keyshortcuts={careful ? undefined : 'y'}
        onClick={allow}
      >
        {text.allowOnce}
        {!careful && <Key name="y" />}
      </Button>
      {!hints.suppress_always && (
        <Button data-opens="always" disabled={busy} aria-keyshortcuts="a" onClick={opening('always')}>
          {text.always}
          <Key name="a" />
        </Button>
      )}
      <Button
        variant={careful ? 'danger' : 'plain'}
        busy={sending === 'deny'}
        disabled={sending === 'allow'}
        aria-keyshortcuts="n"
        onClick={deny}
      >
        {text.deny}
        <Key name="n" />
      </Button>
      <Button data-opens="deny" variant="ghost" disabled={busy} onClick={opening('deny')}>
        {text.denyReason}
      </Button>
      <Button
        data-opens="edit"
        variant="ghost"
        disabled={busy}
        aria-keyshortcuts="e"
        onClick={opening('edit')}
      >
        {text.edit}
        <Key name="e" />
      </Button>
    </>
  );
}

/** Where there is a keyboard; a screen reader knows it from the button. */
function Key({ name }: { name: string }) {
  return (
    <span
      aria-hidden="true"
      className="rounded border border-current/30 px-1 font-mono text-[0.65rem] leading-4 opacity-80 pointer-coarse:hidden"
    >
      {name}
    </span>
  );
}
