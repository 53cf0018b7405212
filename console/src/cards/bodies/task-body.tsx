/** A sub-agent: what it was asked, what it does, what it reports. */
import { useMemo } from 'react';
import type { Part, SubAgentView } from '../../data/reducer/view.js';
import { Markdown } from '../../markdown/markdown.js';
import { useText } from '../../text/language.js';
import { Disclosure } from '../../ui/disclosure.js';
import { Spinner } from '../../ui/spinner.js';
import { makeVisible } from '../../ui/visible.js';
import { groupReads } from '../parse/reads.js';
import { reportOf } from '../parse/task-report.js';
import { textField } from '../parse/tool-output.js';
import { LongText } from '../view/long-text.js';
import { MediaList } from '../view/media.js';
import { ReadRun } from '../view/read-run.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { type BodyProps, failed, Labelled, ResultText, resultText } from './body.js';

export function TaskBody({ card, input, session, Card }: BodyProps) {
  const text = useText(strings);
  const prompt = textField(input.value, 'prompt') ?? input.text ?? '';
  const { text: report, part: reported } = reportOf(resultText(card.result), card.agent);
  return (
    <>
      {prompt !== '' && (
        <Disclosure summary={<span className="text-xs font-semibold text-muted">{text.task}</span>}>
          <ScrollArea label={text.task}>
            <LongText text={prompt} />
          </ScrollArea>
        </Disclosure>
      )}
      {card.agent !== undefined && (
        <Work agent={card.agent} reported={reported} session={session} Card={Card} />
      )}
      {failed(card) ? (
        <ResultText card={card} />
      ) : (
        report !== '' && (
          <Labelled label={text.report} copy={report} copyLabel={text.copyResult}>
            <ScrollArea label={text.report} className="bg-surface p-3 text-sm">
              <Markdown text={report} />
            </ScrollArea>
          </Labelled>
        )
      )}
    </>
  );
}

interface WorkProps extends Pick<BodyProps, 'session' | 'Card'> {
  agent: SubAgentView;
}

/** `reported`: shown below as its report. */
function Work({ agent, reported, session, Card }: WorkProps & { reported: Part | undefined }) {
  const text = useText(strings);
  const { ended, parts } = agent;
  const groups = useMemo(
    () =>
      groupReads(
        parts.filter((part) => part !== reported),
        (part) => part,
      ),
    [parts, reported],
  );
  return (
    <section aria-label={`${text.agentWork}: ${agent.label}`} className="min-w-0 border-l-2 border-line pl-3">
      <div className="flex flex-col gap-2">
        {groups.map((group) => (
          <Steps key={group[0]?.key} parts={group} session={session} agent={agent} Card={Card} />
        ))}
        {agent.parts.length === 0 && <p className="text-xs text-muted">{text.agentNothing}</p>}
        <p className="text-xs text-muted">
          {ended === undefined ? (
            <Spinner label={text.agentWorks} show size={12} />
          ) : (
            `${text.agentDone(ended.turns)}${ended.cutShort === undefined ? '' : ` ${text.agentCut(makeVisible(ended.cutShort))}`}`
          )}
        </p>
      </div>
    </section>
  );
}

function Steps({ parts, ...rest }: WorkProps & { parts: readonly Part[] }) {
  const [first] = parts;
  if (first === undefined) return null;
  if (parts.length === 1) return <Step part={first} {...rest} />;
  return <ReadRun cards={parts.flatMap((part) => (part.kind === 'tool' ? [part.card] : []))} {...rest} />;
}

function Step({ part, session, agent, Card }: WorkProps & { part: Part }) {
  const text = useText(strings);
  switch (part.kind) {
    case 'tool':
      return <Card card={part.card} session={session} agent={agent} />;
    case 'text':
      return (
        <div className="text-sm">
          <Markdown text={part.text} streaming={part.streaming} />
        </div>
      );
    case 'thinking':
      return part.redacted ? (
        <p className="text-xs text-muted">{text.thinkingHidden}</p>
      ) : (
        <Disclosure summary={<span className="text-xs text-muted">{text.thinking}</span>}>
          <div className="text-xs text-muted">
            <Markdown text={part.text} streaming={part.streaming} />
          </div>
        </Disclosure>
      );
    case 'media':
      return <MediaList blocks={part.content} />;
    case 'note':
      return <p className="text-xs text-muted">{noteText(part.note, text)}</p>;
    case 'user':
      return null;
  }
}

type Note = Extract<Part, { kind: 'note' }>['note'];

function noteText(note: Note, text: (typeof strings)['en']): string {
  switch (note.type) {
    case 'compacted':
      return text.note.compacted;
    case 'max-turns':
      return text.note.maxTurns(note.turns);
    case 'stopped':
      return text.note.stopped;
    case 'interrupted':
      return text.note.interrupted;
    case 'failed':
      return makeVisible(note.message);
    case 'cut-short':
      return text.agentCut(makeVisible(note.reason));
  }
}
