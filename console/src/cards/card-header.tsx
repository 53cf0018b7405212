import type { CardState, ToolCard } from '../data/reducer/view.js';
import { gatewayTitle } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { classes } from '../ui/classes.js';
import { formatDuration } from '../ui/format.js';
import { BotIcon, CheckIcon, ChevronRightIcon } from '../ui/icons.js';
import { makeVisible } from '../ui/visible.js';
import { lookOf } from './bodies/table.js';
import { STATE_LOOK } from './card-state.js';
import { oneLine, titleFromInput } from './parse/card-title.js';
import { streamedInput } from './parse/streamed-input.js';
import { mcpName } from './parse/tool-output.js';
import { useGatewayClock } from './view/gateway-clock.js';
import { strings } from './view/strings.js';

interface CardHeaderProps {
  /** Of the card: the title and the body have ids made of it. */
  id: string;
  card: ToolCard;
  state: CardState;
  agent: string | undefined;
  open: boolean;
  onToggle: () => void;
  raw: boolean;
  onRaw: () => void;
}

export function CardHeader({ id, card, state, agent, open, onToggle, raw, onRaw }: CardHeaderProps) {
  const text = useText(strings);
  const { Icon } = lookOf(card);
  const mcp = mcpName(card.name);
  const name = mcp === undefined ? card.name : `${mcp.server} › ${mcp.tool}`;
  return (
    <div className="flex items-stretch">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? `${id}-body` : undefined}
        onClick={onToggle}
        className="flex min-h-10 min-w-0 flex-1 cursor-pointer flex-wrap items-center gap-x-2 gap-y-1 rounded-lg px-2.5 py-1.5 text-left text-sm hover:bg-raised focus-visible:-outline-offset-2"
      >
        <ChevronRightIcon
          size={14}
          className={classes('shrink-0 text-muted transition-transform', open && 'rotate-90')}
        />
        <Icon size={16} className="shrink-0 text-muted" />
        <span id={`${id}-title`} className="max-w-[45%] shrink-0 truncate font-semibold">
          {makeVisible(name)}
        </span>
        <span className="min-w-0 flex-1 truncate text-muted max-sm:order-last max-sm:basis-full">
          {/* The question below says it in full. */}
          {!(open && state === 'waiting' && card.command !== undefined) && <Title card={card} />}
        </span>
        {agent !== undefined && (
          <Badge icon={<BotIcon size={12} />} className="max-w-40">
            {text.subAgent(makeVisible(agent))}
          </Badge>
        )}
        <span className="ml-auto flex shrink-0 items-center gap-2">
          <Elapsed card={card} state={state} />
          {state === 'success' ? (
            // Most calls succeed: what stands out is what did not.
            <span className="text-muted" title={text.state.success}>
              <CheckIcon size={14} />
              <span className="sr-only">{text.state.success}</span>
            </span>
          ) : (
            <Badge tone={STATE_LOOK[state].tone}>{text.state[state]}</Badge>
          )}
        </span>
      </button>
      {open && (
        <Button
          size="small"
          variant="ghost"
          aria-pressed={raw}
          onClick={onRaw}
          className="my-1 mr-1 self-center text-muted aria-pressed:bg-raised aria-pressed:text-ink"
        >
          {text.raw}
        </Button>
      )}
    </div>
  );
}

function Title({ card }: { card: ToolCard }) {
  const language = useLanguage();
  if (card.title !== undefined && card.title !== '') return oneLine(gatewayTitle(card.title, language));
  const { value, text } = streamedInput({ input: card.input, inputText: card.inputText.slice(0, 2_000) });
  const title = titleFromInput(card.name, value);
  return title === '' && text !== undefined ? oneLine(text) : title;
}

/** Counts while the call runs, then stops. */
function Elapsed({ card, state }: { card: ToolCard; state: CardState }) {
  const text = useText(strings);
  const running = state === 'running' && card.durationMs === undefined;
  const now = useGatewayClock(running);
  const ms =
    card.durationMs ??
    (running && card.startedAt !== undefined ? wholeSeconds(now - card.startedAt) : undefined);
  if (ms === undefined) return null;
  return (
    <span className="text-xs text-muted tabular-nums" title={text.elapsed}>
      {formatDuration(ms)}
    </span>
  );
}

function wholeSeconds(ms: number): number {
  // Less than a second would be shown in milliseconds.
  return Math.max(1, Math.floor(ms / 1000)) * 1000;
}
