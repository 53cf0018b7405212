import { useState } from 'react';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { plainOutput } from '../parse/ansi.js';
import { textField } from '../parse/tool-output.js';
import { LongText } from '../view/long-text.js';
import { MediaList } from '../view/media.js';
import { ScrollArea } from '../view/scroll-area.js';
import { strings } from '../view/strings.js';
import { TerminalView } from '../view/terminal-view.js';
import { type BodyProps, Labelled, resultText } from './body.js';

/** Taller than this many characters or lines, a command can be given more room. */
const TALL = { chars: 1_500, lines: 12 };

/** The whole command, whatever its length, in a part of the page that scrolls by itself. */
export function CommandText({ command, label }: { command: string; label: string }) {
  const text = useText(strings);
  const [tall, setTall] = useState(false);
  const long = command.length > TALL.chars || command.split('\n', TALL.lines + 1).length > TALL.lines;
  return (
    <>
      <ScrollArea label={label} maxHeight={tall ? 'max-h-[75vh]' : 'max-h-56'}>
        <LongText text={command} />
      </ScrollArea>
      {long && (
        <Button size="small" variant="ghost" aria-expanded={tall} onClick={() => setTall(!tall)}>
          {tall ? text.shrink : text.expand}
        </Button>
      )}
    </>
  );
}

function CommandView({ command, label }: { command: string; label: string }) {
  const text = useText(strings);
  return (
    <Labelled label={label} copy={command} copyLabel={text.copyCommand}>
      <CommandText command={command} label={label} />
    </Labelled>
  );
}

export function BashBody({ card, input }: BodyProps) {
  const text = useText(strings);
  // What runs is what the gateway describes; before that, what the model has said so far.
  const command = card.command ?? textField(input.value, 'command') ?? input.text ?? '';
  const output = card.result === undefined ? (card.progress ?? '') : (card.shown ?? resultText(card.result));
  const label = card.result === undefined ? text.progress : text.output;
  return (
    <>
      {command !== '' && <CommandView command={command} label={text.command} />}
      {output !== '' && (
        <Labelled
          label={label}
          copy={card.result === undefined ? undefined : plainOutput(output)}
          copyLabel={text.copyOutput}
        >
          <TerminalView output={output} label={label} />
        </Labelled>
      )}
      {card.result !== undefined && output === '' && <p className="text-xs text-muted">{text.noOutput}</p>}
      <MediaList blocks={card.result ?? []} />
    </>
  );
}
