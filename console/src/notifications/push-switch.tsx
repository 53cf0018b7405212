import { useEffect, useState } from 'react';
import { useIdentity } from '../data/identity.js';
import { useText } from '../text/language.js';
import { toast } from '../ui/toast.js';
import { Toggle } from '../ui/toggle.js';
import { askForNotifications } from './notifications.js';
import { canPush, isPushed, startPush, stopPush } from './push.js';
import { switchStrings } from './strings.js';

/** Questions while no page is open, on this browser. */
export function PushSwitch() {
  const text = useText(switchStrings);
  const may = useIdentity().can('approve');
  const [on, setOn] = useState(false);
  const [busy, setBusy] = useState(false);
  const offered = may && canPush();
  useEffect(() => {
    if (offered) isPushed().then(setOn, () => {});
  }, [offered]);
  if (!offered) return null;
  const change = async (wanted: boolean) => {
    setBusy(true);
    try {
      if (!wanted) await stopPush();
      else if ((await askForNotifications()) === 'granted') await startPush();
      setOn(await isPushed());
    } catch {
      toast(text.pushFailed, 'danger');
    }
    setBusy(false);
  };
  return <Toggle label={text.push} checked={on} disabled={busy} onChange={(wanted) => void change(wanted)} />;
}
