/** How the calls of an agent are decided: a button that says it, and a menu to change it, also while a turn runs. */
import type { ModelWire, SessionModeWire } from '../../../src/server/console-api/wire/sessions.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { ChevronDownIcon, ShieldIcon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { strings } from './strings.js';

interface ModePickerProps {
  entry: ModelWire;
  /** Null: the configuration's. */
  value: SessionModeWire | null;
  onChange: (mode: SessionModeWire | null) => void;
}

export function ModePicker({ entry, value, onChange }: ModePickerProps) {
  const text = useText(strings);
  const { modes, configured_mode: configured } = entry;
  // Where the configuration has one of these, that and nothing chosen are the same.
  const standard = modes.find((mode) => mode === configured);
  const now = value ?? standard ?? null;
  const name = text.modes[now ?? configured].name;
  const items = [...(standard === undefined ? [null] : []), ...modes];
  return (
    <Menu
      label={text.mode}
      align="start"
      trigger={
        <Button
          variant="ghost"
          size="small"
          className="min-h-9"
          aria-label={`${text.mode}: ${name}`}
          icon={<ShieldIcon size={15} />}
        >
          <span>{name}</span>
          <ChevronDownIcon size={14} className="shrink-0 text-muted" />
        </Button>
      }
      items={items.map((mode) => {
        const { name: label, meaning } = text.modes[mode ?? configured];
        return {
          label: `${label}: ${meaning}`,
          checked: mode === now,
          onSelect: () => onChange(mode),
        };
      })}
    />
  );
}
