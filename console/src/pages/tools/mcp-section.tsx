import { useState } from 'react';
import { remove } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { EmptyState } from '../../ui/empty-state.js';
import { PlugIcon, PlusIcon } from '../../ui/icons.js';
import { Section } from '../../ui/page.js';
import { toast } from '../../ui/toast.js';
import { ListState } from '../shared/list-state.js';
import type { McpServerWire } from '../shared/tool-types.js';
import { useFetched } from '../shared/use-fetched.js';
import { AddServer } from './add-server.js';
import { ServerCard } from './server-card.js';
import { strings } from './strings.js';

export function McpSection({ change, onChanged }: { change: number; onChanged: () => void }) {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  const servers = useFetched<{ data: McpServerWire[] }>('/api/mcp', change);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<McpServerWire>();
  const list = servers.data?.data ?? [];
  const changed = () => {
    servers.reload();
    onChanged();
  };
  const add = (
    <Button variant="primary" icon={<PlusIcon />} onClick={() => setAdding(true)}>
      {text.addServer}
    </Button>
  );
  return (
    <Section
      title={text.servers}
      intro={admin ? text.serversIntro : `${text.serversIntro} ${text.adminOnly}`}
      actions={admin && list.length > 0 ? add : undefined}
    >
      <ListState
        loading={servers.loading}
        error={servers.error}
        present={servers.data !== undefined}
        onReload={servers.reload}
      >
        {list.length === 0 ? (
          <EmptyState
            icon={<PlugIcon size={22} />}
            title={text.noServers}
            text={admin ? text.noServersText : undefined}
            action={admin ? add : undefined}
          />
        ) : (
          <ul className="grid gap-3 md:grid-cols-2 2xl:grid-cols-3">
            {list.map((server) => (
              <ServerCard
                key={server.name}
                server={server}
                onRemove={() => setRemoving(server)}
                onChanged={changed}
              />
            ))}
          </ul>
        )}
      </ListState>
      <AddServer
        open={adding}
        taken={list.map(({ name }) => name)}
        onClose={() => setAdding(false)}
        onAdded={changed}
      />
      <Confirm
        open={removing !== undefined}
        title={text.removeTitle(removing?.name ?? '')}
        text={
          <>
            <p>{text.removeText(removing?.tools.length ?? 0)}</p>
            {removing?.persistent === true && <p className="mt-2">{text.removePersistent}</p>}
          </>
        }
        action={text.remove}
        onConfirm={async () => {
          if (removing === undefined) return;
          await remove(`/api/mcp/${encodeURIComponent(removing.name)}`);
          toast(text.removed(removing.name), 'ok');
          changed();
        }}
        onClose={() => setRemoving(undefined)}
      />
    </Section>
  );
}
