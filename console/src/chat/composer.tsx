/** Where a person writes. What they wrote stays until the gateway has it. */
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react';
import { useAsOpenTurn } from '../data/open-turn.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { ErrorNote } from '../ui/error-note.js';
import { IconButton } from '../ui/icon-button.js';
import { AttachIcon, ClockIcon, SendIcon, StopIcon } from '../ui/icons.js';
import { AttachmentList } from './attachment-list.js';
import { type ContentBlock, contentOf } from './attachments.js';
import { keepDraft, readDraft } from './drafts.js';
import { queuesOnEnter, sendsOnEnter } from './send-key.js';
import { strings } from './strings.js';
import { useAttachments } from './use-attachments.js';
import { useFileDrop } from './use-file-drop.js';

interface ComposerProps {
  session: string | undefined;
  placeholder: string;
  running: boolean;
  /** Why nothing can be sent; undefined where it can. */
  obstacle: string | undefined;
  /** What happens to something that is sent now, where that is not at once. */
  hint?: string | undefined;
  /** Rejects where the gateway did not take it. */
  send: (content: string | ContentBlock[]) => Promise<void>;
  /** Sends for after the turn that runs, where that is not what `send` does. */
  queue?: ((content: string | ContentBlock[]) => Promise<void>) | undefined;
  /** Resolves to what was said and is not delivered any more: it can be sent again. */
  stop: () => Promise<readonly string[]>;
  /** The choice of the model and the folder. */
  children?: ReactNode;
  /** An example that was chosen: it fills the composer and can be edited. */
  suggestion?: { text: string; id: number } | undefined;
  /** The composer that this one replaces had the focus. */
  autoFocus?: boolean | undefined;
}

const WRITTEN =
  'col-start-1 row-start-1 w-full min-w-0 overflow-hidden px-3.5 pt-3 pb-1 text-[0.9375rem] leading-relaxed break-words whitespace-pre-wrap';
/** More than this is higher than the area may become. */
const MIRRORED = 6_000;
const ACCEPTED =
  'image/png,image/jpeg,image/gif,image/webp,application/pdf,text/*,.md,.json,.yaml,.yml,.ts,.tsx,.js,.py,.rs,.go,.java,.c,.h,.cpp,.sh,.sql,.log,.toml';

export function Composer(props: ComposerProps) {
  const { session, running, obstacle, suggestion } = props;
  const text = useText(strings);
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState(() => readDraft(session));
  const [sending, setSending] = useState(false);
  const [stopping, setStopping] = useState(false);
  const [problem, setProblem] = useState<{ title: string; message: string }>();
  const files = useAttachments();
  const dropping = useFileDrop(files.add);

  const write = useCallback(
    (next: string) => {
      setDraft(next);
      keepDraft(session, next);
    },
    [session],
  );
  useEffect(() => {
    if (suggestion === undefined) return;
    write(suggestion.text);
    area.current?.focus();
  }, [suggestion, write]);

  const { autoFocus = false } = props;
  useEffect(() => {
    if (autoFocus) area.current?.focus();
  }, [autoFocus]);

  const empty = draft.trim() === '' && files.items.length === 0;
  const hindrance = obstacle ?? (files.reading ? text.reasons.reading : undefined);
  const queue = running ? props.queue : undefined;
  const offersQueue = queue !== undefined && !empty;
  const send = async (deliver = props.send): Promise<void> => {
    if (sending || empty || hindrance !== undefined) return;
    setSending(true);
    setProblem(undefined);
    try {
      await deliver(
        contentOf(
          draft,
          files.items.map(({ block }) => block),
        ),
      );
      write('');
      files.clear();
    } catch (error) {
      setProblem({ title: text.notSent, message: error instanceof Error ? error.message : String(error) });
    } finally {
      setSending(false);
    }
  };
  const stop = async (): Promise<void> => {
    setStopping(true);
    try {
      const withdrawn = await props.stop();
      if (withdrawn.length > 0) write([...withdrawn, draft].filter((each) => each !== '').join('\n\n'));
      setProblem(undefined);
    } catch (error) {
      setProblem({ title: text.notStopped, message: error instanceof Error ? error.message : String(error) });
    } finally {
      setStopping(false);
    }
  };

  useAsOpenTurn(running, () => void stop());

  return (
    <form
      className="mx-auto w-full max-w-3xl px-3 pt-1 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-4"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {problem !== undefined && (
        <div className="pb-2">
          <ErrorNote {...problem} />
        </div>
      )}
      <div
        className={classes(
          'relative rounded-xl border bg-surface shadow-sm focus-within:border-accent',
          dropping ? 'border-accent' : 'border-line',
        )}
      >
        <AttachmentList files={files} />
        <div className="grid max-h-[40dvh] min-h-11 overflow-y-auto">
          <textarea
            ref={area}
            rows={1}
            value={draft}
            readOnly={sending}
            aria-label={text.message}
            aria-describedby={`${id}-state`}
            placeholder={props.placeholder}
            enterKeyHint="enter"
            onChange={(event) => write(event.target.value)}
            onPaste={(event) => {
              const pasted = [...event.clipboardData.files];
              if (pasted.length === 0) return;
              event.preventDefault();
              files.add(pasted.map((file) => named(file, text.pastedImage)));
            }}
            onKeyDown={(event) => {
              if (queue !== undefined && queuesOnEnter(event.nativeEvent)) {
                event.preventDefault();
                void send(queue);
                return;
              }
              if (!sendsOnEnter(event.nativeEvent)) return;
              event.preventDefault();
              void send();
            }}
            className={classes(WRITTEN, 'resize-none bg-transparent outline-none placeholder:text-muted')}
          />
          {/* As high as its text: both are in the same grid cell. */}
          <div aria-hidden="true" className={classes(WRITTEN, 'invisible')}>
            {`${draft.slice(0, MIRRORED)}\n`}
          </div>
        </div>
        <div className="flex items-end gap-1 px-2 pb-2">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            accept={ACCEPTED}
            onChange={(event) => {
              files.add([...(event.target.files ?? [])]);
              event.target.value = '';
            }}
          />
          <IconButton label={text.attach} onClick={() => picker.current?.click()}>
            <AttachIcon size={18} />
          </IconButton>
          <div className="flex min-w-0 flex-1 flex-wrap items-center gap-1">{props.children}</div>
          {running && (
            <Button
              variant="danger"
              busy={stopping}
              icon={<StopIcon size={14} />}
              onClick={() => void stop()}
            >
              {/* On a phone there is no room for three labels beside the choice of the model. */}
              <span className={offersQueue ? 'max-sm:sr-only' : undefined}>
                {stopping ? text.stopping : text.stop}
              </span>
            </Button>
          )}
          {offersQueue && (
            <Button
              disabled={sending || hindrance !== undefined}
              icon={<ClockIcon size={16} />}
              title={text.queueTitle}
              onClick={() => void send(queue)}
            >
              <span className="max-sm:sr-only">{text.queue}</span>
            </Button>
          )}
          {(!running || !empty) && (
            <Button
              type="submit"
              variant="primary"
              busy={sending}
              disabled={empty || hindrance !== undefined}
              icon={<SendIcon size={16} />}
              aria-describedby={`${id}-state`}
            >
              {text.send}
            </Button>
          )}
        </div>
        {dropping && (
          <div className="pointer-events-none absolute inset-0 flex items-center justify-center rounded-xl bg-info-soft/90 text-sm font-medium text-info">
            {text.dropHere}
          </div>
        )}
      </div>
      <p id={`${id}-state`} role="status" className="pt-1 text-xs text-muted pointer-fine:min-h-5">
        {sending ? (
          text.sending
        ) : hindrance !== undefined ? (
          hindrance
        ) : props.hint !== undefined ? (
          props.hint
        ) : (
          <span className="hidden pointer-fine:inline">{text.hintKeys}</span>
        )}
      </p>
    </form>
  );
}

/** What is pasted is called image.png by every browser. */
function named(file: File, name: string): File {
  if (file.name !== 'image.png') return file;
  return new File([file], `${name}.png`, { type: file.type });
}
