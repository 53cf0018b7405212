import { useEffect, useState } from 'react';
import type { ThinkingPart } from '../data/reducer/view.js';
import { Markdown } from '../markdown/markdown.js';
import { useText } from '../text/language.js';
import { Disclosure } from '../ui/disclosure.js';
import { formatDuration } from '../ui/format.js';
import { useChatActions } from './chat-context.js';
import { strings } from './strings.js';

/** When thinking that was watched began and ended. What was thought before the page was open has no time. */
const watched = new Map<string, { began: number; ended: number | undefined }>();
const opened = new Map<string, boolean>();
const MOST_WATCHED = 500;

export function Thinking({ part }: { part: ThinkingPart }) {
  const text = useText(strings);
  const { session } = useChatActions();
  const id = `${session} ${part.key}`;
  const took = useWatched(id, part.streaming);
  const [open, setOpen] = useState(opened.get(id) ?? false);
  const title = part.streaming
    ? text.thinking
    : took === undefined
      ? text.thought
      : text.thoughtFor(formatDuration(took));
  if (part.redacted) return <p className="pt-3 text-sm text-muted">{text.redacted}</p>;
  return (
    <Disclosure
      className="pt-3 text-muted"
      open={open}
      onToggle={(next) => {
        opened.set(id, next);
        setOpen(next);
      }}
      summary={
        <span className={part.streaming ? 'animate-pulse motion-reduce:animate-none' : ''}>{title}</span>
      }
    >
      <div className="mt-1 ml-1.5 border-l-2 border-line pl-4 text-sm">
        <Markdown text={part.text} streaming={part.streaming} />
      </div>
    </Disclosure>
  );
}

function useWatched(id: string, streaming: boolean): number | undefined {
  const [, setKnown] = useState(0);
  useEffect(() => {
    const known = watched.get(id);
    if (streaming && known === undefined) watched.set(id, { began: Date.now(), ended: undefined });
    else if (!streaming && known !== undefined && known.ended === undefined) {
      known.ended = Date.now();
      setKnown(known.ended);
    }
    for (const oldest of watched.keys()) {
      if (watched.size <= MOST_WATCHED) break;
      watched.delete(oldest);
    }
  }, [id, streaming]);
  const known = watched.get(id);
  return known?.ended === undefined ? undefined : known.ended - known.began;
}
