/** Text of a model. What is parsed becomes nodes in markdown-html.tsx, and nowhere else. */
import { lazy, memo, Suspense, useEffect, useRef } from 'react';
import { useText } from '../text/language.js';
import { CodeBlock } from '../ui/code-block.js';
import { copyText } from '../ui/copy-button.js';
import { toast } from '../ui/toast.js';
import { makeProseVisible } from '../ui/visible.js';
import { type Block, BlockSplitter } from './markdown-blocks.js';
import { strings } from './strings.js';
import './markdown.css';

interface MarkdownProps {
  text: string;
  /** More of it may come: what is only begun is drawn as if it were whole. */
  streaming?: boolean | undefined;
}

const load = () => import('./markdown-html.js');
const Html = lazy(() => load().then(({ MarkdownHtml }) => ({ default: MarkdownHtml })));

/** Fetches what the first text will need. */
export function preloadMarkdown(): void {
  load().catch(() => {
    // The first text asks again.
  });
}

export const Markdown = memo(function Markdown({ text, streaming = false }: MarkdownProps) {
  const splitter = useRef<BlockSplitter>(undefined);
  splitter.current ??= new BlockSplitter();
  return <MarkdownBlocks blocks={splitter.current.split(text)} streaming={streaming} />;
});

/** Of a text that was split before. */
export function MarkdownBlocks({ blocks, streaming }: { blocks: readonly Block[]; streaming: boolean }) {
  const words = useText(strings);
  const box = useRef<HTMLDivElement>(null);
  // The buttons in parsed text are no elements of React's.
  useEffect(() => {
    const element = box.current;
    const copy = (event: Event): void => {
      const button = event.target instanceof Element ? event.target.closest('.md-copy') : null;
      const code = button?.closest('.md-code')?.querySelector('code')?.textContent;
      if (code === undefined || code === null) return;
      copyText(code).then(
        () => toast(words.copied, 'ok'),
        () => toast(words.copyFailed, 'warn'),
      );
    };
    element?.addEventListener('click', copy);
    return () => element?.removeEventListener('click', copy);
  }, [words]);
  return (
    <div ref={box} className="md" dir="auto">
      {blocks.map((block, index) => (
        <BlockView key={block.start} block={block} streaming={streaming && index === blocks.length - 1} />
      ))}
    </div>
  );
}

/** It continues the previous block: no border in front of it. */
export function isContinued(block: Block | undefined): boolean {
  return block?.type === 'plain' && block.start !== block.origin;
}

const BlockView = memo(function BlockView({ block, streaming }: { block: Block; streaming: boolean }) {
  const words = useText(strings);
  if (block.type === 'code') {
    const name = block.language === '' ? words.code : block.language;
    return (
      <div className="md-block">
        <CodeBlock text={block.text} label={name} language={block.language} title />
      </div>
    );
  }
  if (block.type === 'plain') {
    return (
      <p className={isContinued(block) ? 'md-plain md-more' : 'md-plain'}>{makeProseVisible(block.text)}</p>
    );
  }
  return (
    <Suspense fallback={<p className="md-plain">{makeProseVisible(block.source)}</p>}>
      <Html source={makeProseVisible(block.source)} streaming={streaming} />
    </Suspense>
  );
});
