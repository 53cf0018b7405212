import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy-button.js';
import { RefreshIcon } from '../ui/icons.js';
import { useCanSend, useChatActions } from './chat-context.js';
import type { ActionsRow } from './rows.js';
import { strings } from './strings.js';

export function AnswerActions({ row }: { row: ActionsRow }) {
  const text = useText(strings);
  const { regenerate } = useChatActions();
  const canSend = useCanSend();
  const { turn } = row;
  return (
    <div className="flex flex-wrap items-center gap-1 pt-1 text-muted">
      <CopyButton text={row.answer.map((part) => part.text).join('\n\n')} label={text.copyAnswer} />
      {turn !== undefined && (
        <Button
          variant="ghost"
          size="small"
          title={text.regenerateTitle}
          disabled={!canSend}
          icon={<RefreshIcon size={14} />}
          onClick={() => regenerate(turn)}
        >
          {text.regenerate}
        </Button>
      )}
    </div>
  );
}
