/** All that a person has to know to decide: nothing is cut, and long things scroll by themselves. */
import { useMemo } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { CommandView } from '../cards/bodies/bash-body.js';
import { Labelled } from '../cards/bodies/body.js';
import { rowsOfUnified } from '../cards/parse/diff-rows.js';
import { DiffView } from '../cards/view/diff-view.js';
import { JsonView } from '../cards/view/json-view.js';
import { LongText } from '../cards/view/long-text.js';
import { Away } from '../cards/view/media.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { strings as cardStrings } from '../cards/view/strings.js';
import { useText } from '../text/language.js';
import { Disclosure } from '../ui/disclosure.js';
import { WarnIcon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { strings } from './strings.js';

export function WhatItDoes({ approval }: { approval: ApprovalWire }) {
  const text = useText(strings);
  const cards = useText(cardStrings);
  const { describe, hints } = approval;
  const { command, diff, url, detail, paths = [] } = describe;
  const rows = useMemo(() => (diff === undefined ? [] : rowsOfUnified(diff)), [diff]);
  const hasDetail = command !== undefined || diff !== undefined || url !== undefined;
  const others = paths.filter((path) => path !== approval.cwd);
  return (
    <>
      <Warnings approval={approval} />
      {command !== undefined && <CommandView command={command} label={cards.command} />}
      {diff !== undefined && (
        <Labelled label={cards.change} copy={diff} copyLabel={cards.change}>
          <DiffView rows={rows} label={cards.change} maxHeight="max-h-[50vh]" />
        </Labelled>
      )}
      {url !== undefined && (
        <Labelled label={text.address}>
          <p className="font-mono text-sm">
            <Away url={url} />
          </p>
        </Labelled>
      )}
      {detail !== undefined && detail !== '' && (
        <Labelled label={text.detail}>
          <ScrollArea label={text.detail}>
            <LongText text={detail} />
          </ScrollArea>
        </Labelled>
      )}
      {hasDetail ? (
        <Disclosure summary={<span className="text-xs text-muted">{text.allArguments}</span>}>
          <Arguments approval={approval} />
        </Disclosure>
      ) : (
        <Labelled label={cards.arguments}>
          <Arguments approval={approval} />
        </Labelled>
      )}
      <dl className="grid gap-x-3 gap-y-1 text-xs sm:grid-cols-[auto_minmax(0,1fr)]">
        <Fact name={text.why} value={approval.why} />
        <Fact name={text.cwd} value={approval.cwd} mono />
        {others.length > 0 && <Fact name={text.paths} value={others.join('\n')} mono />}
        {hints.reason !== null && <Fact name={text.engineReason} value={hints.reason} />}
        {hints.description !== null && <Fact name={text.title} value={hints.description} />}
        {hints.mcp_server !== null && (
          <Fact name="MCP" value={text.mcpServer(hints.mcp_server.name, hints.mcp_server.source)} />
        )}
      </dl>
    </>
  );
}

function Arguments({ approval }: { approval: ApprovalWire }) {
  const text = useText(strings);
  return (
    <ScrollArea label={text.allArguments} className="p-2">
      <JsonView value={approval.input} label={text.allArguments} />
    </ScrollArea>
  );
}

function Warnings({ approval: { hints } }: { approval: ApprovalWire }) {
  const text = useText(strings);
  const lines = [
    ...(hints.blocked_path === null ? [] : [text.blockedPath(hints.blocked_path)]),
    ...(hints.default_to_no ? [text.careful] : []),
    ...(hints.suppress_always ? [text.noAlways] : []),
  ];
  if (lines.length === 0) return null;
  return (
    <ul className="space-y-1 rounded-md border border-warn/40 bg-warn-soft px-3 py-2 text-sm">
      {lines.map((line) => (
        <li key={line} className="flex items-start gap-2">
          <WarnIcon size={16} className="mt-0.5 shrink-0 text-warn" />
          <span className="min-w-0 wrap-anywhere">
            <VisibleText text={line} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Fact({ name, value, mono = false }: { name: string; value: string; mono?: boolean }) {
  if (value === '') return null;
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className={`min-w-0 whitespace-pre-wrap wrap-anywhere ${mono ? 'font-mono' : ''}`}>
        <VisibleText text={value} />
      </dd>
    </>
  );
}
