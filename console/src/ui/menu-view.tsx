import { Menu as Base } from '@base-ui/react/menu';
import { classes } from './classes.js';
import type { MenuEntry, MenuProps, MenuTrigger } from './menu.js';

const ITEM =
  'flex min-h-9 cursor-default items-center gap-2 rounded px-2.5 py-1.5 text-sm outline-none select-none data-disabled:opacity-50 data-highlighted:bg-raised';

/** Open from the beginning: it is there because its button was pressed. */
export function MenuView({ label, trigger, items, align = 'end' }: MenuProps & { trigger: MenuTrigger }) {
  return (
    <Base.Root modal={false} defaultOpen>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={4} collisionPadding={8} className="z-50">
          <Base.Popup
            aria-label={label}
            className="max-h-(--available-height) max-w-[min(22rem,calc(100vw-1rem))] min-w-44 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-ink shadow-lg outline-none"
          >
            {items.map((item, index) => {
              if (item === 'separator') {
                return (
                  <Base.Separator
                    key={`separator-${items[index - 1] === undefined ? 'first' : keyOf(items[index - 1])}`}
                    className="my-1 h-px bg-line"
                  />
                );
              }
              return (
                <Base.Item
                  key={item.label}
                  disabled={item.disabled ?? false}
                  {...(item.checked === undefined
                    ? {}
                    : { role: 'menuitemradio', 'aria-checked': item.checked })}
                  onClick={item.onSelect}
                  className={classes(ITEM, item.tone === 'danger' && 'text-danger')}
                >
                  {item.icon}
                  <span className="min-w-0 flex-1 break-words">{item.label}</span>
                  {item.checked === true && <span aria-hidden="true">✓</span>}
                </Base.Item>
              );
            })}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function keyOf(item: MenuEntry | undefined): string {
  return item === undefined || item === 'separator' ? 'separator' : item.label;
}
