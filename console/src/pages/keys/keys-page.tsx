/** Who may use the gateway: the keys of the file, and those that are made, rotated and revoked here. */
import { useState } from 'react';
import type { KeyWire, NewKeyWire } from '../../../../src/server/console-api/wire/keys.js';
import { post, remove } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { Confirm } from '../../ui/confirm.js';
import { EmptyState } from '../../ui/empty-state.js';
import { KeyIcon, PlusIcon } from '../../ui/icons.js';
import { Page } from '../../ui/page.js';
import { toast } from '../../ui/toast.js';
import { ListState } from '../shared/list-state.js';
import { useFetched } from '../shared/use-fetched.js';
import { CreateKey, ShowSecret } from './create-key.js';
import { KeyList } from './key-list.js';
import { strings } from './strings.js';

const pathOf = (key: KeyWire | undefined): string => `/api/keys/${encodeURIComponent(key?.id ?? '')}`;

export function KeysPage() {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  const keys = useFetched<{ data: KeyWire[] }>(admin ? '/api/keys' : undefined);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewKeyWire>();
  const [rotating, setRotating] = useState<KeyWire>();
  const [revoking, setRevoking] = useState<KeyWire>();
  if (!admin) {
    return (
      <Page title={text.title} intro={text.intro}>
        <EmptyState title={text.adminNeeded} icon={<KeyIcon size={22} />} />
      </Page>
    );
  }
  const list = keys.data?.data ?? [];
  const show = (secret: NewKeyWire) => {
    setCreating(false);
    setMade(secret);
    keys.reload();
  };
  const add = (
    <Button variant="primary" icon={<PlusIcon />} onClick={() => setCreating(true)}>
      {text.add}
    </Button>
  );
  return (
    <Page title={text.title} intro={text.intro} actions={list.length > 0 && add}>
      <ListState
        loading={keys.loading}
        error={keys.error}
        present={keys.data !== undefined}
        onReload={keys.reload}
      >
        {list.length === 0 ? (
          <EmptyState title={text.none} text={text.noneText} action={add} icon={<KeyIcon size={22} />} />
        ) : (
          <KeyList keys={list} onRotate={setRotating} onRevoke={setRevoking} />
        )}
      </ListState>
      <CreateKey open={creating} onClose={() => setCreating(false)} onMade={show} />
      <ShowSecret made={made} onClose={() => setMade(undefined)} />
      <Confirm
        open={rotating !== undefined}
        title={text.rotateTitle(rotating?.name ?? '')}
        text={text.rotateText}
        action={text.rotate}
        onConfirm={async () => show(await post<NewKeyWire>(`${pathOf(rotating)}/rotate`))}
        onClose={() => setRotating(undefined)}
      />
      <Confirm
        open={revoking !== undefined}
        title={text.revokeTitle(revoking?.name ?? '')}
        text={text.revokeText}
        action={text.revoke}
        onConfirm={async () => {
          await remove(pathOf(revoking));
          toast(text.revoked, 'ok');
          keys.reload();
        }}
        onClose={() => setRevoking(undefined)}
      />
    </Page>
  );
}
