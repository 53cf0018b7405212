import type { RuleTest, SuggestionWire } from '../../../../src/server/console-api/wire/approvals.js';
import { useText } from '../../text/language.js';
import { TONE_SOFT } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { VisibleText } from '../../ui/visible-text.js';
import { BehaviourBadge, RuleText } from './rule-lists.js';
import { BEHAVIOUR_TONES } from './rule-types.js';
import { strings } from './strings.js';

interface TestResultProps {
  test: RuleTest;
  onSuggestion: (suggestion: SuggestionWire) => void;
}

export function TestResult({ test, onSuggestion }: TestResultProps) {
  const text = useText(strings);
  const { behaviour, why, rule, source, describe, suggestions } = test;
  return (
    <div data-result={behaviour} className="flex min-w-0 flex-col gap-3 text-sm">
      <div className={`rounded-md border px-3 py-2 ${TONE_SOFT[BEHAVIOUR_TONES[behaviour]]}`}>
        <p className="font-semibold">{text.results[behaviour]}</p>
        <p className="break-words text-ink">
          <VisibleText text={why} />
        </p>
      </div>
      {(rule !== null || source !== null) && (
        <p className="flex flex-wrap items-center gap-2">
          <span className="text-muted">{text.decidedBy}</span>
          {rule !== null && (
            <>
              <BehaviourBadge behaviour={behaviour} />
              <RuleText rule={rule} />
            </>
          )}
          {source !== null && <SourceName source={source} alone={rule === null} />}
        </p>
      )}
      {describe !== null && (
        <div>
          <h3 className="mb-1 text-xs font-semibold text-muted">{text.whatItDoes}</h3>
          <p className="break-words">
            <VisibleText text={describe.title.slice(0, 500)} />
          </p>
          {describe.command !== undefined && (
            <CodeBlock
              label={text.whatItDoes}
              text={describe.command}
              wrap
              copy={false}
              maxHeight="max-h-40"
            />
          )}
        </div>
      )}
      {suggestions.length > 0 && (
        <div>
          <h3 className="mb-1 text-xs font-semibold text-muted">{text.suggestions}</h3>
          <ul className="flex flex-col gap-1.5">
            {suggestions.map((suggestion) => (
              <li key={suggestion.rule} className="flex flex-wrap items-center gap-2">
                <RuleText rule={suggestion.rule} />
                <span className="text-xs text-muted">
                  <VisibleText text={suggestion.covers} />
                </span>
                <Button
                  size="small"
                  aria-label={text.addSuggestionOf(suggestion.rule.slice(0, 100))}
                  onClick={() => onSuggestion(suggestion)}
                >
                  {text.addSuggestion}
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** `mode ask` is the mode by its name. */
function SourceName({ source, alone }: { source: string; alone: boolean }) {
  const text = useText(strings);
  const [first = '', ...rest] = source.split(' ');
  const name = [text.sourceNames[first] ?? first, ...rest].join(' ');
  return alone ? <span>{name}</span> : <span className="text-muted">{text.ofSource(name)}</span>;
}
