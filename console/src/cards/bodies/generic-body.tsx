/** Any tool: its arguments as a tree, and its result as what it is. */
import { useMemo } from 'react';
import type { ToolCard } from '../../data/reducer/view.js';
import { useText } from '../../text/language.js';
import { VisibleText } from '../../ui/visible-text.js';
import { mcpName } from '../parse/tool-output.js';
import { JsonView } from '../view/json-view.js';
import { LongText } from '../view/long-text.js';
import { MediaList } from '../view/media.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { type BodyProps, failed, Labelled, PlainResult, resultText } from './body.js';

export function GenericBody({ card, input }: BodyProps) {
  const text = useText(strings);
  const mcp = mcpName(card.name);
  const nothing =
    !input.partial &&
    (input.value === undefined ||
      input.value === null ||
      (typeof input.value === 'object' && Object.keys(input.value).length === 0));
  return (
    <>
      {mcp !== undefined && (
        <dl className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
          <Pair name={text.server} value={mcp.server} />
          <Pair name={text.tool} value={mcp.tool} />
        </dl>
      )}
      <Labelled label={input.partial ? text.argumentsSoFar : text.arguments}>
        {nothing && <p className="text-xs text-muted">{text.noArguments}</p>}
        {!nothing && (
          <ScrollArea label={text.arguments} className="p-2">
            {input.text === undefined ? (
              <JsonView value={input.value} label={text.arguments} />
            ) : (
              <LongText text={input.text} />
            )}
          </ScrollArea>
        )}
      </Labelled>
      {card.result === undefined && card.progress !== undefined && (
        <Labelled label={text.progress}>
          <ScrollArea label={text.progress}>
            <LongText text={card.progress} />
          </ScrollArea>
        </Labelled>
      )}
      <JsonOrText card={card} />
    </>
  );
}

const LONGEST_JSON = 500_000;

function JsonOrText({ card }: { card: ToolCard }) {
  const text = useText(strings);
  const content = resultText(card.result);
  const value = useMemo(() => jsonOf(content), [content]);
  if (value === undefined || failed(card)) return <PlainResult card={card} />;
  return (
    <>
      <Labelled label={text.result} copy={content} copyLabel={text.copyResult}>
        <ScrollArea label={text.result} className="p-2">
          <JsonView value={value} label={text.result} />
        </ScrollArea>
      </Labelled>
      <MediaList blocks={card.result ?? []} />
    </>
  );
}

/** Undefined for everything but an object or a list. */
function jsonOf(content: string): object | undefined {
  if (content.length > LONGEST_JSON || !/^\s*[[{]/.test(content)) return undefined;
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex min-w-0 gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 font-mono wrap-anywhere">
        <VisibleText text={value} />
      </dd>
    </div>
  );
}
