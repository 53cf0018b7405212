import { Dialog as Base } from '@base-ui/react/dialog';
import {
  type KeyboardEvent,
  lazy,
  type RefObject,
  Suspense,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useLiveSessions } from '../sessions/live-sessions.js';
import { type SessionDialog, SessionDialogs } from '../sessions/session-dialogs.js';
import { useText } from '../text/language.js';
import { classes } from '../ui/classes.js';
import { SearchIcon } from '../ui/icons.js';
import { useRoute } from '../ui/router.js';
import { VisibleText } from '../ui/visible-text.js';
import {
  type PaletteDialogs,
  type PaletteEntry,
  useActions,
  useFoundSessions,
  useOpenSession,
} from './palette-entries.js';
import { strings } from './strings.js';

const ConnectDialog = lazy(async () => ({
  default: (await import('../connect/connect-dialog.js')).ConnectDialog,
}));

interface PaletteViewProps {
  open: boolean;
  onClose: () => void;
}

/** What is chosen runs when the palette has gone and the focus is back where it was. */
export function PaletteView({ open, onClose }: PaletteViewProps) {
  const [dialog, setDialog] = useState<SessionDialog>();
  const [connecting, setConnecting] = useState<boolean>();
  const chosen = useRef<PaletteEntry>(undefined);
  const before = useRef<HTMLElement>(null);
  const live = useLiveSessions();
  return (
    <>
      <Base.Root
        open={open}
        onOpenChange={(next) => !next && onClose()}
        onOpenChangeComplete={(isOpen) => {
          if (isOpen) return;
          const entry = chosen.current;
          chosen.current = undefined;
          entry?.run();
        }}
      >
        <Base.Portal>
          <Base.Backdrop className="fixed inset-0 z-40 bg-black/50" />
          <Base.Popup
            finalFocus={before}
            className="fixed top-[10dvh] left-1/2 z-50 flex max-h-[75dvh] w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-surface text-ink shadow-xl outline-none"
          >
            <Choose
              before={before}
              dialogs={{ onDialog: setDialog, onConnect: () => setConnecting(true) }}
              onChoose={(entry) => {
                chosen.current = entry;
                onClose();
              }}
            />
          </Base.Popup>
        </Base.Portal>
      </Base.Root>
      {connecting !== undefined && (
        <Suspense fallback={null}>
          <ConnectDialog open={connecting} onClose={() => setConnecting(false)} onConnected={undefined} />
        </Suspense>
      )}
      <SessionDialogs dialog={dialog} live={live} onClose={() => setDialog(undefined)} />
    </>
  );
}

interface ChooseProps {
  /** Where the focus was. */
  before: RefObject<HTMLElement | null>;
  dialogs: PaletteDialogs;
  onChoose: (entry: PaletteEntry) => void;
}

/** The focus stays in the field; the arrows move what Enter chooses. */
function Choose({ before, dialogs, onChoose }: ChooseProps) {
  const text = useText(strings).palette;
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  // With its first paint: the dialog gives it the focus a frame later, and what was typed until then would be lost.
  useLayoutEffect(() => {
    const active = document.activeElement;
    if (active instanceof HTMLElement && active !== field.current) before.current = active;
    field.current?.focus();
  }, [before]);
  const route = useRoute();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const query = typed.trim();
  const session = useOpenSession(route.page === 'chat' ? route.session : undefined);
  const actions = useActions(session, query, dialogs);
  const found = useFoundSessions(query);
  const all = [...actions, ...found.entries];
  const active = all[Math.min(at, all.length - 1)];
  const optionId = (entry: PaletteEntry): string => `${list}-${entry.id}`;
  const shown = active === undefined ? undefined : optionId(active);
  useEffect(() => {
    if (shown !== undefined) document.getElementById(shown)?.scrollIntoView({ block: 'nearest' });
  }, [shown]);
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((Math.min(at, all.length - 1) + step + all.length) % Math.max(all.length, 1));
    } else if (event.key === 'Enter' && active !== undefined) {
      event.preventDefault();
      onChoose(active);
    }
  };
  const group = (name: string, entries: readonly PaletteEntry[]) =>
    entries.length > 0 && (
      // biome-ignore lint/a11y/useSemanticElements: a group of options.
      <div role="group" aria-label={name}>
        <p aria-hidden="true" className="px-2.5 pt-2 pb-1 text-xs font-medium text-muted">
          {name}
        </p>
        {entries.map((entry) => (
          <Option
            key={entry.id}
            id={optionId(entry)}
            entry={entry}
            active={entry === active}
            onChoose={() => onChoose(entry)}
          />
        ))}
      </div>
    );
  const state = found.failed
    ? text.failed
    : found.searching
      ? text.searching
      : all.length === 0
        ? text.nothing
        : '';
  return (
    <>
      <Base.Title className="sr-only">{text.title}</Base.Title>
      <div className="flex items-center gap-2 border-b border-line px-3">
        <SearchIcon className="shrink-0 text-muted" />
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label={text.title}
          aria-expanded="true"
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={shown}
          placeholder={text.placeholder}
          value={typed}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKey}
          className="min-h-12 w-full min-w-0 bg-transparent text-sm outline-none placeholder:text-muted"
        />
      </div>
      <div
        id={list}
        role="listbox"
        aria-label={text.title}
        tabIndex={-1}
        className="min-h-0 overflow-y-auto p-1"
      >
        {group(text.actions, actions)}
        {group(text.conversations, found.entries)}
      </div>
      <p role="status" className={classes('px-3.5 text-xs text-muted', state !== '' && 'py-2')}>
        {state}
      </p>
    </>
  );
}

interface OptionProps {
  id: string;
  entry: PaletteEntry;
  active: boolean;
  onChoose: () => void;
}

function Option({ id, entry, active, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which has the focus.
    <div
      id={id}
      role="option"
      aria-selected={active}
      tabIndex={-1}
      onClick={onChoose}
      className={classes(
        'flex min-h-9 cursor-pointer items-center gap-2.5 rounded px-2.5 py-1.5 text-sm hover:bg-raised',
        active && 'bg-raised',
      )}
    >
      <span className="flex w-5 shrink-0 justify-center text-muted">{entry.icon}</span>
      <span className="min-w-0 flex-1">
        <span className="block truncate">
          <VisibleText text={entry.label} />
        </span>
        {entry.note !== undefined && (
          <span className="block truncate text-xs text-muted">
            <VisibleText text={entry.note} />
          </span>
        )}
      </span>
    </div>
  );
}
