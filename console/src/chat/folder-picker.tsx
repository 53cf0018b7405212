import { useEffect, useId, useState } from 'react';
import type { FoldersWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { ErrorNote } from '../ui/error-note.js';
import { Field } from '../ui/field.js';
import { ArrowUpIcon, FolderIcon } from '../ui/icons.js';
import { Input } from '../ui/input.js';
import { Skeleton } from '../ui/skeleton.js';
import { VisibleText } from '../ui/visible-text.js';
import { crumbsOf, lastName } from './paths.js';
import { strings } from './strings.js';

interface FolderPickerProps {
  value: string | undefined;
  onChange: (folder: string) => void;
  /** Another folder forks the conversation. */
  forks: boolean;
}

/** A button that says where the agent works, and a dialog to choose another folder. */
export function FolderPicker({ value, onChange, forks }: FolderPickerProps) {
  const text = useText(strings);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="ghost"
        size="small"
        className="min-h-9 max-w-full min-w-0"
        aria-haspopup="dialog"
        aria-label={`${text.folder}: ${value ?? text.folderDefault}`}
        title={value}
        icon={<FolderIcon size={15} />}
        onClick={() => setOpen(true)}
      >
        <span className="min-w-0 truncate">{value === undefined ? text.folder : lastName(value)}</span>
      </Button>
      {open && (
        <Browser
          start={value}
          forks={forks}
          onClose={() => setOpen(false)}
          onChoose={(folder) => {
            onChange(folder);
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

type Listing =
  | { status: 'loading' }
  | { status: 'failed'; message: string }
  | { status: 'ready'; folders: FoldersWire };

function Browser({
  start,
  forks,
  onClose,
  onChoose,
}: {
  start: string | undefined;
  forks: boolean;
  onClose: () => void;
  onChoose: (folder: string) => void;
}) {
  const text = useText(strings);
  const [typed, setTyped] = useState(start ?? '');
  /** `over` was in the field at that time: the answer must not change what was typed later. */
  const [asked, setAsked] = useState({ path: start, over: typed });
  const goTo = (path: string | undefined) => setAsked({ path, over: typed });
  const [listing, setListing] = useState<Listing>({ status: 'loading' });
  const here = useId();
  useEffect(() => {
    const gone = new AbortController();
    const { path, over } = asked;
    const query = path === undefined ? '' : `?path=${encodeURIComponent(path)}`;
    get<FoldersWire>(`/api/folders${query}`, gone.signal).then(
      (folders) => {
        setListing({ status: 'ready', folders });
        setTyped((now) => (now === over ? folders.path : now));
      },
      (error: unknown) => {
        if (gone.signal.aborted) return;
        setListing({ status: 'failed', message: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => gone.abort();
  }, [asked]);
  const open = listing.status === 'ready' ? listing.folders : undefined;
  const settled = open !== undefined && typed.trim() === open.path;
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.chooseFolder}
      actions={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button
            variant="primary"
            disabled={!settled}
            onClick={() => open !== undefined && onChoose(open.path)}
          >
            {text.useFolder}
          </Button>
        </>
      }
    >
      <p className="mb-3 text-muted">
        {text.folderHint} {forks && text.newFolderSession}
      </p>
      <form
        className="mb-3 flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          goTo(typed.trim());
        }}
      >
        <div className="min-w-0 flex-1">
          <Field label={text.folderPath}>
            <Input
              value={typed}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              className="font-mono"
              onChange={(event) => setTyped(event.target.value)}
            />
          </Field>
        </div>
        <Button type="submit" disabled={settled || typed.trim() === ''}>
          {text.openFolder}
        </Button>
      </form>
      {listing.status === 'loading' && <Skeleton lines={5} />}
      {listing.status === 'failed' && <ErrorNote title={text.folderFailed} message={listing.message} />}
      {open !== undefined && (
        <>
          <nav aria-label={text.breadcrumbs} className="mb-2 flex flex-wrap items-center gap-1 text-xs">
            {crumbsOf(open.path).map(({ name, path: to }) => (
              <button
                key={to}
                type="button"
                aria-current={to === open.path ? 'page' : undefined}
                onClick={() => goTo(to)}
                className="max-w-40 truncate rounded border border-line px-1.5 py-1 font-mono hover:bg-raised aria-[current]:bg-raised"
              >
                {name}
              </button>
            ))}
          </nav>
          <div id={here} className="max-h-72 overflow-y-auto rounded-md border border-line">
            {open.parent !== null && (
              <Row
                icon={<ArrowUpIcon />}
                name={text.upFolder}
                onOpen={() => goTo(open.parent ?? undefined)}
              />
            )}
            {open.folders.length === 0 && <p className="px-3 py-2 text-muted">{text.noFolders}</p>}
            {open.folders.map(({ name, path: to }) => (
              <Row key={to} icon={<FolderIcon />} name={name} onOpen={() => goTo(to)} />
            ))}
          </div>
          {open.roots.length > 1 && (
            <div className="mt-3">
              <h3 className="mb-1 text-xs font-semibold text-muted">{text.places}</h3>
              <div className="flex flex-wrap gap-1.5">
                {open.roots.map((root) => (
                  <Button
                    key={root}
                    size="small"
                    className="max-w-full"
                    title={root}
                    onClick={() => goTo(root)}
                  >
                    <span className="truncate font-mono">{root}</span>
                  </Button>
                ))}
              </div>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}

function Row({ icon, name, onOpen }: { icon: React.ReactNode; name: string; onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      className="flex min-h-9 w-full min-w-0 items-center gap-2 border-b border-line px-3 py-1.5 text-left last:border-b-0 hover:bg-raised focus-visible:-outline-offset-2"
    >
      <span className="shrink-0 text-muted">{icon}</span>
      <span className="min-w-0 truncate">
        <VisibleText text={name} />
      </span>
    </button>
  );
}
