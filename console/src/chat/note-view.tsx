import type { NotePart } from '../data/reducer/view.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { formatNumber, formatTokens } from '../ui/format.js';
import { InfoIcon, PlayIcon, RefreshIcon, StopIcon, WarnIcon } from '../ui/icons.js';
import { useCanSend, useChatActions } from './chat-context.js';
import { strings } from './strings.js';

/** Something worth a line. What can be done about it is there as long as it is the last word. */
export function NoteView({ note, last }: { note: NotePart['note']; last: boolean }) {
  const text = useText(strings);
  const { resume, retry, goOn } = useChatActions();
  const canSend = useCanSend();
  switch (note.type) {
    case 'compacted':
      return (
        <Line icon={<InfoIcon />}>{text.compacted(formatTokens(note.before), formatTokens(note.after))}</Line>
      );
    case 'max-turns':
      return (
        <Line icon={<InfoIcon />}>
          {text.maxTurns(formatNumber(note.turns))}
          {last && (
            <Button size="small" disabled={!canSend} icon={<PlayIcon size={14} />} onClick={goOn}>
              {text.goOn}
            </Button>
          )}
        </Line>
      );
    case 'stopped':
      return <Line icon={<StopIcon />}>{text.stopped}</Line>;
    case 'interrupted':
      return (
        <div className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border border-warn/40 bg-warn-soft px-3 py-2 text-sm">
          <WarnIcon className="shrink-0 text-warn" />
          <p className="min-w-48 flex-1">
            <span className="font-medium text-warn">{text.interrupted}</span> {last && text.interruptedText}
          </p>
          {last && (
            <Button
              size="small"
              variant="primary"
              disabled={!canSend}
              icon={<PlayIcon size={14} />}
              onClick={resume}
            >
              {text.goOn}
            </Button>
          )}
        </div>
      );
    case 'failed':
      return (
        <div className="pt-3">
          <ErrorNote
            title={text.failed}
            message={last ? `${note.message}\n${text.failedHint}` : note.message}
            action={
              last ? (
                <Button size="small" disabled={!canSend} icon={<RefreshIcon size={14} />} onClick={retry}>
                  {text.retry}
                </Button>
              ) : undefined
            }
          />
        </div>
      );
    case 'cut-short':
      return <Line icon={<WarnIcon />}>{text.cutShort(note.reason)}</Line>;
  }
}

function Line({ icon, children }: { icon: React.ReactNode; children: React.ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-2 pt-3 text-sm text-muted">
      <span className="shrink-0">{icon}</span>
      {children}
    </div>
  );
}
