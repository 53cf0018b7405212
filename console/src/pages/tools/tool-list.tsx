import { useMemo } from 'react';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Disclosure } from '../../ui/disclosure.js';
import { EmptyState } from '../../ui/empty-state.js';
import { CheckIcon, MinusIcon, ToolIcon } from '../../ui/icons.js';
import { Section } from '../../ui/page.js';
import { Link } from '../../ui/router.js';
import { scrollRegion } from '../../ui/scroll-region.js';
import { Select } from '../../ui/select.js';
import { Toggle } from '../../ui/toggle.js';
import { VisibleText } from '../../ui/visible-text.js';
import { JsonTree } from '../shared/json-tree.js';
import { ListState } from '../shared/list-state.js';
import { SearchField } from '../shared/search-field.js';
import type { ToolWire } from '../shared/tool-types.js';
import { useFetched } from '../shared/use-fetched.js';
import { useQuery } from '../shared/use-query.js';
import { type SchemaRow, schemaRows } from './schema-rows.js';
import { strings } from './strings.js';

const SOURCES = ['built-in', 'own', 'mcp'] as const;

export function ToolList({ change }: { change: number }) {
  const text = useText(strings);
  const [query, setQuery] = useQuery();
  const search = query.get('search') ?? '';
  const source = SOURCES.find((each) => each === query.get('source'));
  const onlyOff = query.get('off') === '1';
  const tools = useFetched<{ data: ToolWire[] }>('/api/tools', change);
  const shown = useMemo(
    () =>
      (tools.data?.data ?? []).filter(
        (tool) =>
          (source === undefined || tool.source === source) &&
          (!onlyOff || !tool.enabled) &&
          matchesTool(tool, search),
      ),
    [tools.data, source, onlyOff, search],
  );
  const clear = () => setQuery({ search: undefined, source: undefined, off: undefined });
  const filtered = search !== '' || source !== undefined || onlyOff;
  return (
    <Section title={text.tools} intro={text.toolsIntro}>
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <SearchField label={text.search} value={search} onChange={(next) => setQuery({ search: next })} />
        <Select
          label={text.source}
          hideLabel
          value={source ?? ''}
          options={[
            { value: '', label: text.anySource },
            ...SOURCES.map((value) => ({ value, label: text.sources[value] })),
          ]}
          onChange={(next) => setQuery({ source: next })}
        />
        <Toggle
          label={text.onlyOff}
          checked={onlyOff}
          onChange={(off) => setQuery({ off: off ? '1' : undefined })}
        />
        <span className="ml-auto text-xs text-muted">{text.shown(shown.length)}</span>
      </div>
      <ListState
        loading={tools.loading}
        error={tools.error}
        present={tools.data !== undefined}
        onReload={tools.reload}
      >
        {shown.length === 0 ? (
          filtered ? (
            <EmptyState
              title={text.noneTitle}
              text={text.noneText}
              action={<Button onClick={clear}>{text.clear}</Button>}
            />
          ) : (
            <EmptyState title={text.emptyTitle} text={text.emptyText} icon={<ToolIcon size={22} />} />
          )
        ) : (
          <ul
            aria-label={text.tools}
            className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
          >
            {shown.map((tool) => (
              <li key={`${tool.source} ${tool.name}`} data-tool={tool.name} className="min-w-0 px-3 py-2">
                <Disclosure summary={<ToolSummary tool={tool} />}>
                  <ToolDetail tool={tool} />
                </Disclosure>
              </li>
            ))}
          </ul>
        )}
      </ListState>
    </Section>
  );
}

const SUMMARY_LENGTH = 160;
const NAME_LENGTH = 120;
const DESCRIPTION_LENGTH = 8000;

function ToolSummary({ tool }: { tool: ToolWire }) {
  const text = useText(strings);
  const [firstLine = ''] = tool.description.trim().split('\n');
  const line = firstLine.length > SUMMARY_LENGTH ? `${firstLine.slice(0, SUMMARY_LENGTH)}…` : firstLine;
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <span className="min-w-0 font-mono font-medium break-all">
        <VisibleText text={tool.name.slice(0, NAME_LENGTH)} />
      </span>
      {tool.enabled ? (
        <Badge tone="ok" icon={<CheckIcon size={12} />}>
          {text.enabled}
        </Badge>
      ) : (
        <Badge tone="plain" icon={<MinusIcon size={12} />}>
          {text.disabled}
        </Badge>
      )}
      <Badge>{tool.server === null ? text.sources[tool.source] : `MCP ${tool.server.slice(0, 40)}`}</Badge>
      {tool.read_only === true && <Badge tone="info">{text.readOnly}</Badge>}
      {tool.read_only === false && <Badge tone="warn">{text.changes}</Badge>}
      <span className="w-full min-w-0 truncate text-xs text-muted">
        {tool.enabled || tool.reason === null ? (
          <VisibleText text={line} />
        ) : (
          <VisibleText text={tool.reason} />
        )}
      </span>
    </span>
  );
}

function ToolDetail({ tool }: { tool: ToolWire }) {
  const text = useText(strings);
  const rows = useMemo(() => schemaRows(tool.input_schema), [tool]);
  return (
    <div className="flex flex-col gap-3 pt-2 pb-1 pl-5 text-sm">
      {!tool.enabled && tool.reason !== null && (
        <p>
          <span className="font-medium">{text.why}: </span>
          <VisibleText text={tool.reason} />
        </p>
      )}
      {tool.description !== '' && (
        <div
          {...scrollRegion(text.description)}
          className="max-h-60 max-w-prose overflow-y-auto break-words whitespace-pre-line text-muted"
        >
          <VisibleText text={tool.description.slice(0, DESCRIPTION_LENGTH)} />
        </div>
      )}
      {tool.models !== undefined && (
        <p>
          <span className="font-medium">{text.models}: </span>
          {tool.models.length === 0 ? (
            <span className="text-muted">{text.noModels}</span>
          ) : (
            <span className="font-mono text-xs break-all">
              <VisibleText text={tool.models.map((name) => name.slice(0, NAME_LENGTH)).join(', ')} />
            </span>
          )}
        </p>
      )}
      <div>
        <h4 className="mb-1 font-medium">{text.parameters}</h4>
        {rows.length === 0 ? (
          <p className="text-muted">{text.noParameters}</p>
        ) : (
          <ul className="flex flex-col gap-1.5">
            {rows.map((row) => (
              <Parameter key={row.path} row={row} />
            ))}
          </ul>
        )}
      </div>
      <Disclosure summary={text.schema}>
        <JsonTree label={text.schemaOf(tool.name.slice(0, NAME_LENGTH))} value={tool.input_schema} />
      </Disclosure>
      <Link
        to={`#/rules?tool=${encodeURIComponent(tool.name)}`}
        className="self-start text-accent underline-offset-2 hover:underline"
      >
        {text.testRule}
      </Link>
    </div>
  );
}

const INDENT_REM = 1.25;

function Parameter({ row }: { row: SchemaRow }) {
  const text = useText(strings);
  return (
    <li className="min-w-0" style={{ paddingInlineStart: `${row.depth * INDENT_REM}rem` }}>
      <span className="flex flex-wrap items-baseline gap-x-2">
        <code className="font-mono text-xs font-semibold break-all">
          <VisibleText text={row.name.slice(0, NAME_LENGTH)} />
        </code>
        <span className="font-mono text-xs text-info">{row.type}</span>
        {row.required && <span className="text-xs text-warn">{text.required}</span>}
        {row.notes.map((note) => (
          <span key={note} className="font-mono text-xs break-all text-muted">
            <VisibleText text={note.slice(0, 300)} />
          </span>
        ))}
      </span>
      {row.description !== undefined && (
        <span className="block max-w-prose text-xs break-words text-muted">
          <VisibleText text={row.description.slice(0, 2000)} />
        </span>
      )}
    </li>
  );
}

function matchesTool(tool: ToolWire, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return true;
  return [tool.name, tool.title, tool.server ?? '', tool.description].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}
