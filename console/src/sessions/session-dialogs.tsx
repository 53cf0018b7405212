import { type FormEvent, useId, useState } from 'react';
import { type SessionWire, TITLE_MAX_LENGTH } from '../../../src/server/console-api/wire/sessions.js';
import { remove } from '../data/api.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Input } from '../ui/input.js';
import { navigate } from '../ui/router.js';
import { toast } from '../ui/toast.js';
import { isRunning, type LiveSessions, pendingOf } from './live-sessions.js';
import { label, pathOf, shortTitle } from './session-items.js';
import { strings } from './strings.js';

/** What a menu item asks first. */
export interface SessionDialog {
  kind: 'rename' | 'delete';
  session: SessionWire;
}

interface SessionDialogsProps {
  dialog: SessionDialog | undefined;
  live: LiveSessions;
  onClose: () => void;
  onDone?: (() => void) | undefined;
}

export function SessionDialogs({ dialog, live, onClose, onDone = () => {} }: SessionDialogsProps) {
  const text = useText(strings);
  const renamed = dialog?.kind === 'rename' ? dialog.session : undefined;
  const removed = dialog?.kind === 'delete' ? dialog.session : undefined;
  return (
    <>
      <RenameDialog session={renamed} onClose={onClose} onDone={onDone} />
      <Confirm
        open={removed !== undefined}
        title={text.removeTitle}
        text={removed !== undefined && <WhatGoes session={removed} live={live} />}
        action={text.remove}
        onConfirm={async () => {
          if (removed === undefined) return;
          await remove(pathOf(removed));
          if (location.hash === `#/chat/${encodeURIComponent(removed.id)}`) navigate('#/');
          toast(text.removed, 'ok');
          onDone();
        }}
        onClose={onClose}
      />
    </>
  );
}

function WhatGoes({ session, live }: { session: SessionWire; live: LiveSessions }) {
  const text = useText(strings);
  const waiting = pendingOf(session, live);
  return (
    <>
      <p className="mb-2">{text.removeText(shortTitle(session, text.untitled))}</p>
      <ul className="list-disc space-y-1 pl-5 text-muted">
        {isRunning(session, live) && <li>{text.removeRunning}</li>}
        {waiting > 0 && <li>{text.removeWaiting(waiting)}</li>}
        <li>{text.removeForks}</li>
        {session.root !== null && <li>{text.removeFiles}</li>}
      </ul>
    </>
  );
}

interface RenameDialogProps {
  session: SessionWire | undefined;
  onClose: () => void;
  onDone: () => void;
}

function RenameDialog({ session, onClose, onDone }: RenameDialogProps) {
  const text = useText(strings);
  const form = useId();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const close = () => {
    setProblem(undefined);
    onClose();
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const title = new FormData(event.currentTarget).get('title');
    if (session === undefined || typeof title !== 'string') return;
    setBusy(true);
    try {
      await label(session, { title });
      onDone();
      close();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={session !== undefined}
      onClose={close}
      title={text.renameTitle}
      actions={
        <>
          <Button onClick={close}>{text.cancel}</Button>
          <Button type="submit" form={form} variant="primary" busy={busy}>
            {text.save}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void submit(event)}>
        <Field label={text.name} hint={text.nameHint} error={problem}>
          <Input
            name="title"
            autoComplete="off"
            maxLength={TITLE_MAX_LENGTH}
            defaultValue={session?.title ?? ''}
            onFocus={(event) => event.currentTarget.select()}
          />
        </Field>
      </form>
    </Dialog>
  );
}
