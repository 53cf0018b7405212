import { memo } from 'react';
import { ToolCardView } from '../cards/tool-card.js';
import { ReadRun } from '../cards/view/read-run.js';
import { isContinued, MarkdownBlocks } from '../markdown/markdown.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy-button.js';
import { RefreshIcon } from '../ui/icons.js';
import { useCanSend, useChatActions } from './chat-context.js';
import { MediaBlocks } from './media-block.js';
import { NoteView } from './note-view.js';
import { RowBoundary } from './row-boundary.js';
import type { ActionsRow, Row } from './rows.js';
import { strings } from './strings.js';
import { Thinking } from './thinking.js';
import { UserMessage } from './user-message.js';

/** Drawn again only when its own row is another one. */
export const RowView = memo(function RowView({ row }: { row: Row }) {
  return (
    <div data-row={row.kind} className="mx-auto w-full max-w-3xl px-4">
      <RowBoundary of={row}>
        <Content row={row} />
      </RowBoundary>
    </div>
  );
});

function Content({ row }: { row: Row }) {
  const { session } = useChatActions();
  switch (row.kind) {
    case 'user':
      return <UserMessage part={row.part} />;
    case 'text':
      return (
        <div className={isContinued(row.blocks[0]) ? '' : 'pt-3'}>
          <MarkdownBlocks blocks={row.blocks} streaming={row.streaming} />
        </div>
      );
    case 'thinking':
      return <Thinking part={row.part} />;
    case 'media':
      return (
        <div className="flex flex-wrap gap-2 pt-3">
          <MediaBlocks blocks={row.part.content} />
        </div>
      );
    case 'tool':
      return (
        <div className="pt-3">
          <ToolCardView card={row.part.card} session={session} />
        </div>
      );
    case 'reads':
      return (
        <div className="pt-3">
          <ReadRun cards={row.cards} session={session} Card={ToolCardView} />
        </div>
      );
    case 'note':
      return <NoteView note={row.part.note} last={row.last} />;
    case 'actions':
      return <AnswerActions row={row} />;
  }
}

function AnswerActions({ row }: { row: ActionsRow }) {
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
