import { useState } from 'react';
import type {
  ChatStarted,
  SessionStatus,
  SessionWire,
  StopAnswer,
} from '../../../../src/server/console-api/wire/sessions.js';
import { post, remove } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { ChatIcon, ForkIcon, PlayIcon, StopIcon, TrashIcon } from '../../ui/icons.js';
import { Menu, type MenuItem } from '../../ui/menu.js';
import { navigate } from '../../ui/router.js';
import { toast } from '../../ui/toast.js';
import { makeVisible } from '../../ui/visible.js';
import { isRunning, type LiveSessions, pendingOf } from './session-rows.js';
import { strings } from './strings.js';

const TITLE_LENGTH = 120;

const pathOf = (session: SessionWire): string => `/api/sessions/${encodeURIComponent(session.id)}`;
const openSession = (id: string): void => navigate(`#/chat/${encodeURIComponent(id)}`);

function shortTitle(session: SessionWire, untitled: string): string {
  const title = makeVisible(session.title ?? untitled);
  return title.length > TITLE_LENGTH ? `${title.slice(0, TITLE_LENGTH)}…` : title;
}

interface SessionActionsProps {
  session: SessionWire;
  status: SessionStatus;
  live: LiveSessions;
  onRemove: () => void;
  onDone: () => void;
}

export function SessionActions({ session, status, live, onRemove, onDone }: SessionActionsProps) {
  const text = useText(strings);
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'danger');
    } finally {
      setBusy(false);
      onDone();
    }
  };
  const stop = () =>
    act(async () => {
      const { stopped } = await post<StopAnswer>(`${pathOf(session)}/stop`);
      toast(stopped ? text.stopped : text.notRunning, stopped ? 'ok' : 'info');
    });
  const resume = () =>
    act(async () => {
      const started = await post<ChatStarted>(`${pathOf(session)}/resume`);
      toast(text.resumed, 'ok');
      openSession(started.session);
    });
  const fork = () =>
    act(async () => {
      const forked = await post<SessionWire>(`${pathOf(session)}/fork`);
      toast(text.forked, 'ok');
      openSession(forked.id);
    });
  const running = isRunning(session, live);
  const canResume = useIdentity().can('call') && status === 'interrupted' && session.resumable;
  const items: MenuItem[] = [
    { label: text.open, icon: <ChatIcon />, onSelect: () => openSession(session.id) },
    ...(canResume ? [{ label: text.resume, icon: <PlayIcon />, onSelect: resume }] : []),
    ...(running ? [{ label: text.stop, icon: <StopIcon />, onSelect: stop }] : []),
    { label: text.fork, icon: <ForkIcon />, onSelect: fork },
    { label: text.remove, icon: <TrashIcon />, tone: 'danger', onSelect: onRemove },
  ];
  return (
    <span className="inline-flex items-center gap-1">
      {canResume && (
        <Button size="small" busy={busy} icon={<PlayIcon size={12} />} onClick={resume}>
          {text.resume}
        </Button>
      )}
      {running && (
        <Button size="small" busy={busy} icon={<StopIcon size={12} />} onClick={stop}>
          {text.stop}
        </Button>
      )}
      <Menu label={text.actionsOf(shortTitle(session, text.untitled))} items={items} />
    </span>
  );
}

export function DeleteSession({
  session,
  live,
  onClose,
  onDone,
}: {
  session: SessionWire | undefined;
  live: LiveSessions;
  onClose: () => void;
  onDone: () => void;
}) {
  const text = useText(strings);
  const waiting = session === undefined ? 0 : pendingOf(session, live);
  return (
    <Confirm
      open={session !== undefined}
      title={text.removeTitle}
      text={
        session !== undefined && (
          <>
            <p className="mb-2">{text.removeText(shortTitle(session, text.untitled))}</p>
            <ul className="list-disc space-y-1 pl-5 text-muted">
              {isRunning(session, live) && <li>{text.removeRunning}</li>}
              {waiting > 0 && <li>{text.removeWaiting(waiting)}</li>}
              <li>{text.removeForks}</li>
              {session.root !== null && session.root !== undefined && <li>{text.removeFiles}</li>}
            </ul>
          </>
        )
      }
      action={text.remove}
      onConfirm={async () => {
        if (session === undefined) return;
        await remove(pathOf(session));
        toast(text.removed, 'ok');
        onDone();
      }}
      onClose={onClose}
    />
  );
}
