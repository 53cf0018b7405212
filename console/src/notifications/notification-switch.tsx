import { useState } from 'react';
import { useText } from '../text/language.js';
import { Toggle } from '../ui/toggle.js';
import { askForNotifications, setNotificationSettings, useNotifications } from './notifications.js';
import { PushSwitch } from './push-switch.js';
import { switchStrings } from './strings.js';

/** Switches notifications on and off; where the browser blocks them, it says how to change that. */
export function NotificationSwitch() {
  const text = useText(switchStrings);
  const { permission, settings } = useNotifications();
  const [busy, setBusy] = useState(false);
  const allowed = permission === 'granted';
  const change = async (what: 'approvals' | 'turnEnds', on: boolean) => {
    if (on && !allowed) {
      setBusy(true);
      await askForNotifications();
      setBusy(false);
    }
    setNotificationSettings({ [what]: on });
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs font-medium text-muted">{text.title}</legend>
      {permission === 'unsupported' || permission === 'denied' ? (
        <p className="text-xs text-muted">{permission === 'denied' ? text.denied : text.unsupported}</p>
      ) : (
        <>
          <Toggle
            label={text.approvals}
            checked={allowed && settings.approvals}
            disabled={busy}
            onChange={(on) => void change('approvals', on)}
          />
          <Toggle
            label={text.turnEnds}
            checked={allowed && settings.turnEnds}
            disabled={busy}
            onChange={(on) => void change('turnEnds', on)}
          />
          <PushSwitch />
          {!allowed && <p className="text-xs text-muted">{text.ask}</p>}
        </>
      )}
    </fieldset>
  );
}
