/** Series are told apart by colour and by pattern: not everyone sees the first. */

interface Pattern {
  colour: string;
  /** Of lines. */
  dash: string | undefined;
  /** What is drawn over the colour, in a square of 6. */
  over: string | undefined;
}

export const PATTERNS: readonly Pattern[] = [
  { colour: 'text-accent', dash: undefined, over: undefined },
  { colour: 'text-ok', dash: '6 3', over: 'M0 6L6 0' },
  { colour: 'text-warn', dash: '2 3', over: 'M0 3H6' },
  { colour: 'text-danger', dash: '8 3 2 3', over: 'M0 0L6 6' },
  { colour: 'text-info', dash: '1 4', over: 'M3 0V6' },
  { colour: 'text-muted', dash: '10 4', over: 'M0 3H6M3 0V6' },
];

const SIZE = 6;

export function PatternDefinitions({ id }: { id: string }) {
  return (
    <defs>
      {PATTERNS.map(({ colour, over }, index) => (
        <pattern
          key={colour}
          id={`${id}-${index}`}
          width={SIZE}
          height={SIZE}
          patternUnits="userSpaceOnUse"
          className={colour}
        >
          <rect width={SIZE} height={SIZE} fill="currentColor" />
          {over !== undefined && <path d={over} className="stroke-surface" strokeWidth={1.2} fill="none" />}
        </pattern>
      ))}
    </defs>
  );
}

export function Swatch({ index, kind }: { index: number; kind: 'bars' | 'lines' }) {
  const pattern = PATTERNS[index % PATTERNS.length];
  return (
    <svg width={18} height={12} aria-hidden="true" className={`shrink-0 ${pattern?.colour ?? ''}`}>
      {kind === 'lines' ? (
        <path d="M0 6H18" stroke="currentColor" strokeWidth={2} strokeDasharray={pattern?.dash} fill="none" />
      ) : (
        <>
          <rect width={18} height={12} fill="currentColor" rx={2} />
          {pattern?.over !== undefined &&
            [0, 6, 12].map((x) => (
              <g key={x} transform={`translate(${x} 0)`}>
                <path d={pattern.over} className="stroke-surface" strokeWidth={1.2} fill="none" />
                <path
                  d={pattern.over}
                  transform="translate(0 6)"
                  className="stroke-surface"
                  strokeWidth={1.2}
                  fill="none"
                />
              </g>
            ))}
        </>
      )}
    </svg>
  );
}
