/** All that a person has to know to decide: nothing is cut, and long things scroll by themselves. */
import { type ReactNode, useMemo } from 'react';
import type { ApprovalWire } from '../../../src/server/console-api/wire/approvals.js';
import { CommandText } from '../cards/bodies/bash-body.js';
import { rowsOfUnified } from '../cards/parse/diff-rows.js';
import { DiffView } from '../cards/view/diff-view.js';
import { JsonView } from '../cards/view/json-view.js';
import { LongText } from '../cards/view/long-text.js';
import { Away } from '../cards/view/media.js';
import { ScrollArea } from '../cards/view/scroll-area.js';
import { strings as cardStrings } from '../cards/view/strings.js';
import { gatewaySentence } from '../text/gateway-sentences.js';
import { useLanguage, useText } from '../text/language.js';
import { classes } from '../ui/classes.js';
import { Disclosure } from '../ui/disclosure.js';
import { languageOfPath } from '../ui/highlight.js';
import { WarnIcon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { hasMoreArguments } from './plain-run.js';
import { RiskBadges } from './risk-badges.js';
import { strings } from './strings.js';

export function WhatItDoes({ approval, aside }: { approval: ApprovalWire; aside: ReactNode }) {
  const text = useText(strings);
  const cards = useText(cardStrings);
  const language = useLanguage();
  const { describe, hints, risks } = approval;
  const { command, diff, url, detail = '', paths = [] } = describe;
  const rows = useMemo(() => (diff === undefined ? [] : rowsOfUnified(diff)), [diff]);
  const isShown = command !== undefined || diff !== undefined || url !== undefined;
  const others = paths.filter((path) => path !== approval.cwd);
  return (
    <>
      <Warnings approval={approval} />
      {command !== undefined && <CommandText command={command} label={cards.command} />}
      {diff !== undefined && (
        <DiffView
          rows={rows}
          label={cards.change}
          maxHeight="max-h-[50vh]"
          language={languageOfPath(paths[0])}
        />
      )}
      {url !== undefined && (
        <p className="rounded-md border border-line bg-code px-2 py-1.5 font-mono text-sm wrap-anywhere">
          <Away url={url} />
        </p>
      )}
      {detail !== '' && (isShown || !isJson(detail)) && <Detail text={detail} label={text.detail} />}
      {!isShown && <Arguments approval={approval} />}
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <RiskBadges risks={risks} />
        {aside}
      </div>
      <dl className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs text-muted">
        <Fact name={text.why} value={gatewaySentence(shortWhy(approval), language)} quiet />
        <Fact name={text.cwd} value={approval.cwd} mono />
        {others.length > 0 && diff === undefined && <Fact name={text.paths} value={others.join('\n')} mono />}
        {hints.reason !== null && <Fact name={text.engineReason} value={hints.reason} />}
        {hints.description !== null && <Fact name={text.title} value={hints.description} />}
        {hints.mcp_server !== null && (
          <Fact name="MCP" value={text.mcpServer(hints.mcp_server.name, hints.mcp_server.source)} />
        )}
      </dl>
      {isShown && (
        <Disclosure
          open={hasMoreArguments(approval)}
          summary={<span className="text-xs text-muted">{text.allArguments}</span>}
        >
          <Arguments approval={approval} />
        </Disclosure>
      )}
    </>
  );
}

/** The command stands above it. */
function shortWhy({ why, describe: { command } }: ApprovalWire): string {
  return command === undefined ? why : why.replace(/the command `.*`(?=,| asks about|\.)/s, 'this command');
}

/** A line or two are read like a caption; more scrolls by itself. */
function Detail({ text, label }: { text: string; label: string }) {
  if (text.length <= CAPTION_CHARS && !text.includes('\n'))
    return (
      <p className="text-sm wrap-anywhere">
        <VisibleText text={text} />
      </p>
    );
  return (
    <ScrollArea label={label} maxHeight="max-h-56">
      <LongText text={text} />
    </ScrollArea>
  );
}

const CAPTION_CHARS = 300;

/** The arguments say the same. */
function isJson(text: string): boolean {
  return /^\s*[{[]/.test(text);
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

interface FactProps {
  name: string;
  value: string;
  mono?: boolean;
  /** The value says it by itself. */
  quiet?: boolean;
}

function Fact({ name, value, mono = false, quiet = false }: FactProps) {
  if (value === '') return null;
  return (
    <div className="min-w-0">
      <dt className={quiet ? 'sr-only' : 'mr-1 inline'}>{name}</dt>
      <dd className={classes('inline whitespace-pre-wrap wrap-anywhere', mono && 'font-mono text-ink')}>
        <VisibleText text={value} />
      </dd>
    </div>
  );
}
