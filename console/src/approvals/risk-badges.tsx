import type { RiskWire } from '../../../src/server/console-api/wire/approvals.js';
import { useText } from '../text/language.js';
import { Badge, type Tone } from '../ui/badge.js';
import { WarnIcon } from '../ui/icons.js';
import { strings } from './strings.js';

const TONES: Record<RiskWire, Tone> = {
  irreversible: 'danger',
  outside: 'danger',
  network: 'warn',
  writes: 'plain',
};

/** What deserves a second look, in words; the colour only repeats it. */
export function RiskBadges({ risks }: { risks: readonly RiskWire[] }) {
  const text = useText(strings);
  return risks.map((risk) => (
    <Badge
      key={risk}
      tone={TONES[risk]}
      title={text.riskHint[risk]}
      icon={TONES[risk] === 'danger' ? <WarnIcon size={12} /> : undefined}
    >
      {text.risk[risk]}
    </Badge>
  ));
}
