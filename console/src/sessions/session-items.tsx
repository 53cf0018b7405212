/** What can be done with a session, the same wherever it is listed. */
import type { LabelSession, SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { patch } from '../data/api.js';
import { useText } from '../text/language.js';
import { ArchiveIcon, EditIcon, FileIcon, PinIcon, TrashIcon } from '../ui/icons.js';
import type { MenuEntry } from '../ui/menu.js';
import { toast } from '../ui/toast.js';
import { makeVisible } from '../ui/visible.js';
import { exportSession } from './export-session.js';
import type { SessionDialog } from './session-dialogs.js';
import { strings } from './strings.js';

const TITLE_LENGTH = 120;

export const pathOf = ({ id }: Pick<SessionWire, 'id'>): string => `/api/sessions/${encodeURIComponent(id)}`;

export function shortTitle(session: SessionWire, untitled: string): string {
  const title = makeVisible(session.title ?? untitled);
  return title.length > TITLE_LENGTH ? `${title.slice(0, TITLE_LENGTH)}…` : title;
}

export function label(session: SessionWire, labels: LabelSession): Promise<SessionWire> {
  return patch<SessionWire>(pathOf(session), labels);
}

export function useSessionItems(
  session: SessionWire,
  onDialog: (dialog: SessionDialog) => void,
  onDone?: () => void,
): MenuEntry[] {
  return sessionItems(useText(strings), session, onDialog, onDone);
}

/** `onDone`: something has changed; the events say it too, where they are there. */
export function sessionItems(
  text: typeof strings.en,
  session: SessionWire,
  onDialog: (dialog: SessionDialog) => void,
  onDone: () => void = () => {},
): MenuEntry[] {
  const change = (labels: LabelSession, done?: string) => async () => {
    try {
      await label(session, labels);
      if (done !== undefined) toast(done, 'ok');
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'danger');
    }
    onDone();
  };
  const exportAs = (form: 'markdown' | 'json') => () =>
    void exportSession(session.id, form).catch(() => toast(text.exportFailed, 'danger'));
  const { pinned, archived } = session;
  return [
    { label: text.rename, icon: <EditIcon />, onSelect: () => onDialog({ kind: 'rename', session }) },
    {
      label: pinned ? text.unpin : text.pin,
      icon: <PinIcon />,
      onSelect: change({ pinned: !pinned }),
    },
    {
      label: archived ? text.unarchive : text.archive,
      icon: <ArchiveIcon />,
      onSelect: change({ archived: !archived }, archived ? text.unarchivedNote : text.archivedNote),
    },
    { label: text.exportMarkdown, icon: <FileIcon />, onSelect: exportAs('markdown') },
    { label: text.exportJson, icon: <FileIcon />, onSelect: exportAs('json') },
    'separator',
    {
      label: text.remove,
      icon: <TrashIcon />,
      tone: 'danger',
      onSelect: () => onDialog({ kind: 'delete', session }),
    },
  ];
}
