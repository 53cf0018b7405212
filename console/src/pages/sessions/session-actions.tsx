import { useState } from 'react';
import type {
  ChatStarted,
  SessionStatus,
  SessionWire,
  StopAnswer,
} from '../../../../src/server/console-api/wire/sessions.js';
import { post } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { isRunning, type LiveSessions } from '../../sessions/live-sessions.js';
import type { SessionDialog } from '../../sessions/session-dialogs.js';
import { pathOf, shortTitle, useSessionItems } from '../../sessions/session-items.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { ChatIcon, ForkIcon, PlayIcon, StopIcon } from '../../ui/icons.js';
import { Menu, type MenuEntry } from '../../ui/menu.js';
import { navigate } from '../../ui/router.js';
import { toast } from '../../ui/toast.js';
import { strings } from './strings.js';

const openSession = (id: string): void => navigate(`#/chat/${encodeURIComponent(id)}`);

interface SessionActionsProps {
  session: SessionWire;
  status: SessionStatus;
  live: LiveSessions;
  onDialog: (dialog: SessionDialog) => void;
  onDone: () => void;
}

export function SessionActions({ session, status, live, onDialog, onDone }: SessionActionsProps) {
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
  const items: MenuEntry[] = [
    { label: text.open, icon: <ChatIcon />, onSelect: () => openSession(session.id) },
    ...(canResume ? [{ label: text.resume, icon: <PlayIcon />, onSelect: resume }] : []),
    ...(running ? [{ label: text.stop, icon: <StopIcon />, onSelect: stop }] : []),
    { label: text.fork, icon: <ForkIcon />, onSelect: fork },
    'separator',
    ...useSessionItems(session, onDialog, onDone),
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
