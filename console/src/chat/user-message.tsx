/** What a person said, and the same while they change it. */
import { memo, useId, useRef, useState } from 'react';
import type { BlockWire } from '../../../src/activity/wire.js';
import type { UserPart } from '../data/reducer/view.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy-button.js';
import { ErrorNote } from '../ui/error-note.js';
import { EditIcon } from '../ui/icons.js';
import { TextArea } from '../ui/text-area.js';
import { textOf } from './attachments.js';
import { useCanSend, useChatActions } from './chat-context.js';
import { MediaBlocks } from './media-block.js';
import { sendsOnEnter } from './send-key.js';
import { strings } from './strings.js';

/** A longer message is shown whole on demand. */
const SHOWN = 4_000;

export const UserMessage = memo(function UserMessage({ part }: { part: UserPart }) {
  const text = useText(strings);
  const canSend = useCanSend();
  const [editing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const said = textOf(part.content);
  const others = part.content.filter((block) => block.type !== 'text');
  if (editing && part.turn !== undefined) {
    return (
      <Editor
        turn={part.turn}
        said={said}
        others={others}
        onClose={() => {
          setEditing(false);
          requestAnimationFrame(() => button.current?.focus());
        }}
      />
    );
  }
  return (
    <div className="group/user flex flex-col items-end gap-1 pt-6">
      <h2 className="sr-only">{text.you}</h2>
      <div className="max-w-[92%] min-w-0 rounded-2xl rounded-br-md border border-line bg-raised px-4 py-2.5 sm:max-w-[85%]">
        {others.length > 0 && (
          <div className="mb-2 flex flex-wrap gap-2 last:mb-0">
            <MediaBlocks blocks={others} />
          </div>
        )}
        {said !== '' && <Said said={said} />}
      </div>
      <div className="flex gap-1 text-muted opacity-0 transition-opacity group-focus-within/user:opacity-100 group-hover/user:opacity-100 pointer-coarse:opacity-100">
        {said !== '' && <CopyButton text={said} label={text.copyMessage} />}
        {part.turn !== undefined && (
          <Button
            ref={button}
            variant="ghost"
            size="small"
            aria-label={text.editMessage}
            disabled={!canSend}
            icon={<EditIcon size={14} />}
            onClick={() => setEditing(true)}
          >
            {text.edit}
          </Button>
        )}
      </div>
    </div>
  );
});

function Said({ said }: { said: string }) {
  const text = useText(strings);
  const [whole, setWhole] = useState(false);
  const long = said.length > SHOWN;
  return (
    <>
      <p dir="auto" className="text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap">
        {long && !whole ? `${said.slice(0, SHOWN)}…` : said}
      </p>
      {long && (
        <Button variant="ghost" size="small" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? text.showLess : text.showAll}
        </Button>
      )}
    </>
  );
}

function Editor({
  turn,
  said,
  others,
  onClose,
}: {
  turn: number;
  said: string;
  others: readonly BlockWire[];
  onClose: () => void;
}) {
  const text = useText(strings);
  const { edit } = useChatActions();
  const canSend = useCanSend();
  const hint = useId();
  const [draft, setDraft] = useState(said);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const empty = draft.trim() === '' && others.length === 0;
  const save = async (): Promise<void> => {
    if (empty || busy || !canSend) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await edit(turn, draft, others);
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <form
      className="mt-6 flex flex-col gap-2 rounded-lg border border-accent bg-surface p-3"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextArea
        aria-label={text.editMessage}
        aria-describedby={hint}
        value={draft}
        autoFocus
        rows={Math.min(12, Math.max(3, draft.split('\n').length))}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !event.nativeEvent.isComposing) onClose();
          if (!sendsOnEnter(event.nativeEvent)) return;
          event.preventDefault();
          void save();
        }}
      />
      {others.length > 0 && (
        <div className="flex flex-wrap gap-2">
          <MediaBlocks blocks={others} />
        </div>
      )}
      <p id={hint} className="text-xs text-muted">
        {text.editHint}
      </p>
      {problem !== undefined && <ErrorNote title={text.notSent} message={problem} />}
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          {text.cancel}
        </Button>
        <Button size="small" variant="primary" type="submit" busy={busy} disabled={empty || !canSend}>
          {text.save}
        </Button>
      </div>
    </form>
  );
}
