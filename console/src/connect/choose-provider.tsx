/** The first step: a server of this machine, a provider that is known, or any other address. */
import { type ReactNode, type Ref, type RefObject, useEffect, useId, useRef } from 'react';
import type { UpstreamListWire } from '../../../src/server/console-api/wire/upstreams.js';
import { useText } from '../text/language.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Spinner } from '../ui/spinner.js';
import type { LocalServers } from './connect-dialog.js';
import { type ConnectForm, fromLocal, fromNothing, fromProvider, type Starting } from './connect-form.js';
import { strings } from './form-strings.js';

interface ChooseProviderProps {
  list: UpstreamListWire;
  local: LocalServers;
  first: RefObject<HTMLElement | null>;
  /** What was chosen before somebody came back. */
  last: string | undefined;
  onChoose: (id: string, start: { starting: Starting; form: ConnectForm }) => void;
}

const OTHER = 'other';

export function ChooseProvider({ list, local, first, last, onChoose }: ChooseProviderProps) {
  const text = useText(strings);
  const taken = list.data.map(({ name }) => name);
  const situation = { taken, canStore: list.key_obstacle === null };
  const isConnected = (address: string) => list.data.some(({ base_url }) => base_url === address);
  const tiles = useRef<HTMLDivElement>(null);
  // The list may arrive after the dialog has opened.
  useEffect(() => {
    const before =
      last === undefined ? null : tiles.current?.querySelector(`[data-tile="${CSS.escape(last)}"]`);
    const target = before instanceof HTMLElement ? before : first.current;
    target?.focus();
  }, [first, last]);
  const firstOf = (index: number): Ref<HTMLButtonElement> | undefined =>
    index === 0
      ? (element) => {
          first.current = element;
        }
      : undefined;
  return (
    <div ref={tiles} className="flex flex-col gap-5">
      <Group title={text.providers}>
        {list.providers.map((provider, index) => (
          <Tile
            key={provider.name}
            id={provider.name}
            title={provider.title}
            ref={firstOf(index)}
            badge={
              isConnected(provider.base_url)
                ? text.connectedAlready
                : provider.key_is_set
                  ? text.keyFound
                  : undefined
            }
            onClick={() => onChoose(provider.name, fromProvider(provider, situation))}
          />
        ))}
        <Tile
          id={OTHER}
          title={text.other}
          hint={text.otherHint}
          onClick={() => onChoose(OTHER, fromNothing(text.server, situation))}
        />
      </Group>
      {local.found === undefined || local.found.length === 0 ? (
        <div className="flex flex-wrap items-center justify-between gap-2 text-muted">
          {local.found === undefined ? (
            <Spinner label={text.looking} show />
          ) : (
            <>
              <p className="min-w-0 flex-1 basis-60 text-xs">{text.noneHere}</p>
              <Button size="small" onClick={local.again}>
                {text.lookAgain}
              </Button>
            </>
          )}
        </div>
      ) : (
        <Group title={text.here}>
          {local.found.map((server) => (
            <Tile
              key={server.name}
              id={`local ${server.name}`}
              title={server.title}
              hint={text.modelCount(server.models.length)}
              badge={isConnected(server.base_url) ? text.connectedAlready : undefined}
              onClick={() => onChoose(`local ${server.name}`, fromLocal(server, situation))}
            />
          ))}
        </Group>
      )}
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h3 id={id} className="mb-1.5 text-xs font-semibold text-muted">
        {title}
      </h3>
      <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3">{children}</ul>
    </section>
  );
}

interface TileProps {
  id: string;
  title: string;
  hint?: string | undefined;
  badge?: string | undefined;
  ref?: Ref<HTMLButtonElement> | undefined;
  onClick: () => void;
}

function Tile({ id, title, hint, badge, ref, onClick }: TileProps) {
  return (
    <li className={hint !== undefined && id === OTHER ? 'col-span-2 flex' : 'flex'}>
      <button
        ref={ref}
        type="button"
        data-tile={id}
        onClick={onClick}
        className="flex min-h-14 w-full min-w-0 flex-col items-start justify-center gap-0.5 rounded-lg border border-line bg-surface px-3 py-2 text-left transition-colors hover:border-accent hover:bg-raised"
      >
        <span className="flex w-full min-w-0 flex-wrap items-center gap-x-1.5 gap-y-0.5">
          <span className="min-w-0 font-medium break-words">{title}</span>
          {badge !== undefined && <Badge tone="ok">{badge}</Badge>}
        </span>
        {hint !== undefined && <span className="text-xs text-muted">{hint}</span>}
      </button>
    </li>
  );
}
