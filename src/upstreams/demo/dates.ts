/** Days and times in a sentence, as the user wrote them and as ISO where a schema wants that. */

export interface FoundDate {
  kind: 'date' | 'time';
  text: string;
  start: number;
  end: number;
  /** `2025-03-05` or `17:30:00`. */
  iso: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const HAN_DAYS = '日一二三四五六';

/** Days from today. */
const RELATIVE: Readonly<Record<string, number>> = {
  today: 0,
  tonight: 0,
  tomorrow: 1,
  yesterday: -1,
  今天: 0,
  今晚: 0,
  今日: 0,
  明天: 1,
  明日: 1,
  后天: 2,
  昨天: -1,
};

const MONTH_NAMES =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

interface Rule {
  kind: 'date' | 'time';
  pattern: RegExp;
  iso(match: RegExpExecArray, now: Date): string | undefined;
}

const RULES: readonly Rule[] = [
  {
    kind: 'date',
    pattern: /(?<![\d.])(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?![\d-])/g,
    iso: ([, year, month, day]) => isoDay(year, month, day),
  },
  {
    kind: 'date',
    pattern: /(?<![\d./])(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/g,
    iso: ([, month, day, year]) => isoDay(year, month, day),
  },
  {
    kind: 'date',
    pattern: /(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]/g,
    iso: ([, year, month, day], now) => isoDay(year ?? now.getUTCFullYear(), month, day),
  },
  {
    kind: 'date',
    pattern: new RegExp(`\\b(${MONTH_NAMES})\\.?\\s+(\\d{1,2})(?:st|nd|rd|th)?(?:,?\\s+(\\d{4}))?\\b`, 'gi'),
    iso: ([, month, day, year], now) => isoDay(year ?? now.getUTCFullYear(), monthNumber(month), day),
  },
  {
    kind: 'date',
    pattern: new RegExp(
      `\\b(\\d{1,2})(?:st|nd|rd|th)?\\s+(?:of\\s+)?(${MONTH_NAMES})\\b(?:,?\\s+(\\d{4}))?`,
      'gi',
    ),
    iso: ([, day, month, year], now) => isoDay(year ?? now.getUTCFullYear(), monthNumber(month), day),
  },
  {
    kind: 'date',
    pattern: /\b(today|tonight|tomorrow|yesterday)\b|(今天|今晚|今日|明天|明日|后天|昨天)/gi,
    iso: ([word], now) => fromToday(RELATIVE[word.toLowerCase()] ?? 0, now),
  },
  {
    kind: 'date',
    pattern: /\b(?:next|this|on)\s+(sunday|monday|tuesday|wednesday|thursday|friday|saturday)\b/gi,
    iso: ([, day], now) => nextWeekday(DAYS.indexOf(day?.toLowerCase() ?? ''), now),
  },
  {
    kind: 'date',
    pattern: /(?:下|这|本)?(?:周|星期|礼拜)([一二三四五六日天])/g,
    iso: ([, day], now) => nextWeekday(Math.max(0, HAN_DAYS.indexOf(day ?? '')), now),
  },
  {
    kind: 'time',
    pattern: /(?<![\d:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\s*(am|pm)\b)?(?![\d:])/gi,
    iso: ([, hour, minute, half]) => isoTime(hour, minute, half),
  },
  {
    kind: 'time',
    pattern: /(?<![\d.:])(\d{1,2})\s*(am|pm)\b/gi,
    iso: ([, hour, half]) => isoTime(hour, '00', half),
  },
  {
    kind: 'time',
    pattern: /(上午|下午|晚上|早上|中午|凌晨)?(\d{1,2})点(?:(半)|(\d{1,2})分)?/g,
    iso: ([, part, hour, half, minute]) =>
      isoTime(
        hour,
        half === undefined ? (minute ?? '00') : '30',
        /[下晚]/.test(part ?? '') ? 'pm' : undefined,
      ),
  },
  { kind: 'time', pattern: /\bnoon\b/gi, iso: () => '12:00:00' },
  { kind: 'time', pattern: /\bmidnight\b/gi, iso: () => '00:00:00' },
];

export function findDates(text: string, now: Date): FoundDate[] {
  const found: FoundDate[] = [];
  for (const { kind, pattern, iso } of RULES) {
    for (const match of text.matchAll(pattern)) {
      const written = iso(match, now);
      const start = match.index;
      const end = start + match[0].length;
      if (written === undefined || found.some((each) => each.start < end && start < each.end)) continue;
      found.push({ kind, text: match[0], start, end, iso: written });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

export function isoDate(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function monthNumber(name: string | undefined): number {
  return MONTHS.indexOf((name ?? '').slice(0, 3).toLowerCase()) + 1;
}

function isoDay(
  year: string | number | undefined,
  month: string | number | undefined,
  day: string | undefined,
): string | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  // Date rolls 31 April over into May; that is no date.
  if (Number.isNaN(date.getTime()) || date.getUTCMonth() !== Number(month) - 1) return undefined;
  return isoDate(date);
}

function isoTime(
  hour: string | undefined,
  minute: string | undefined,
  half: string | undefined,
): string | undefined {
  let hours = Number(hour);
  if (half?.toLowerCase() === 'pm' && hours < 12) hours += 12;
  if (half?.toLowerCase() === 'am' && hours === 12) hours = 0;
  if (hours > 23 || Number(minute) > 59) return undefined;
  return `${String(hours).padStart(2, '0')}:${(minute ?? '00').padStart(2, '0')}:00`;
}

function fromToday(days: number, now: Date): string {
  return isoDate(new Date(now.getTime() + days * 86_400_000));
}

function nextWeekday(day: number, now: Date): string {
  return fromToday((day - now.getUTCDay() + 7) % 7 || 7, now);
}
