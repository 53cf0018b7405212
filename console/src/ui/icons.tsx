/** Small line icons. They never carry meaning alone: a word or a label stands beside each. */
import type { SVGProps } from 'react';

export type IconProps = Omit<SVGProps<SVGSVGElement>, 'children'> & { size?: number | undefined };

function icon(paths: readonly string[], filled = false) {
  return function Icon({ size = 16, ...rest }: IconProps) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill={filled ? 'currentColor' : 'none'}
        stroke={filled ? 'none' : 'currentColor'}
        strokeWidth={2}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
        {...rest}
      >
        {paths.map((d) => (
          <path key={d} d={d} />
        ))}
      </svg>
    );
  };
}

export const CheckIcon = icon(['M20 6 9 17l-5-5']);
export const CloseIcon = icon(['M18 6 6 18', 'm6 6 12 12']);
export const CopyIcon = icon([
  'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H10a2 2 0 0 1-2-2V10a2 2 0 0 1 2-2z',
  'M4 16a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2',
]);
export const ChevronDownIcon = icon(['m6 9 6 6 6-6']);
export const ChevronRightIcon = icon(['m9 18 6-6-6-6']);
export const ChevronLeftIcon = icon(['m15 18-6-6 6-6']);
export const ChevronUpIcon = icon(['m18 15-6-6-6 6']);
export const ArrowUpIcon = icon(['M12 19V5', 'm5 12 7-7 7 7']);
export const ArrowDownIcon = icon(['M12 5v14', 'm19 12-7 7-7-7']);
export const PlusIcon = icon(['M12 5v14', 'M5 12h14']);
export const MinusIcon = icon(['M5 12h14']);
export const TrashIcon = icon([
  'M3 6h18',
  'M8 6V4a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v2',
  'm19 6-1 14a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1L5 6',
  'M10 11v6',
  'M14 11v6',
]);
export const EditIcon = icon(['M12 20h9', 'M16.5 3.5a2.1 2.1 0 0 1 3 3L7 19l-4 1 1-4z']);
export const RefreshIcon = icon([
  'M21 12a9 9 0 0 1-15.5 6.2L3 16',
  'M3 12a9 9 0 0 1 15.5-6.2L21 8',
  'M21 3v5h-5',
  'M3 21v-5h5',
]);
export const StopIcon = icon(
  ['M7 6h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1z'],
  true,
);
export const PlayIcon = icon(
  ['M7 4.5v15a.5.5 0 0 0 .8.4l11-7.5a.5.5 0 0 0 0-.8l-11-7.5a.5.5 0 0 0-.8.4z'],
  true,
);
export const SendIcon = icon(['m22 2-7 20-4-9-9-4z', 'M22 2 11 13']);
export const SearchIcon = icon(['M11 19a8 8 0 1 0 0-16 8 8 0 0 0 0 16z', 'm21 21-4.3-4.3']);
export const MenuIcon = icon(['M4 6h16', 'M4 12h16', 'M4 18h16']);
export const MoreIcon = icon(['M12 5h.01', 'M12 12h.01', 'M12 19h.01']);
export const ExternalIcon = icon([
  'M14 4h6v6',
  'M20 4 11 13',
  'M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5',
]);
export const DownloadIcon = icon(['M12 3v12', 'm7 10 5 5 5-5', 'M4 21h16']);
export const AttachIcon = icon([
  'M21 11.5 12.5 20a5.5 5.5 0 0 1-7.8-7.8l9-9a3.7 3.7 0 0 1 5.2 5.2l-9 9a1.8 1.8 0 0 1-2.6-2.6l8.3-8.3',
]);
export const ForkIcon = icon([
  'M6 3v12',
  'M6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  'M18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  'M18 9a9 9 0 0 1-9 9',
]);
export const ChatIcon = icon(['M21 12a8 8 0 0 1-8 8H4l2-3.2A8 8 0 1 1 21 12z']);
export const InboxIcon = icon([
  'M3 13h5l1.5 3h5L16 13h5',
  'M5.5 5h13L21 13v5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-5z',
]);
export const ListIcon = icon(['M8 6h13', 'M8 12h13', 'M8 18h13', 'M3 6h.01', 'M3 12h.01', 'M3 18h.01']);
export const TraceIcon = icon(['M3 12h4l3 8 4-16 3 8h4']);
export const ToolIcon = icon([
  'M14.7 6.3a4.5 4.5 0 0 0 5.9 5.9l-8.4 8.4a2.8 2.8 0 0 1-4-4l8.4-8.4',
  'M14.7 6.3 18 3a4.5 4.5 0 0 1 3 3l-3.3 3.3',
]);
export const ShieldIcon = icon(['M12 22s8-3.5 8-10V5l-8-3-8 3v7c0 6.5 8 10 8 10z']);
export const ChartIcon = icon(['M4 20V10', 'M10 20V4', 'M16 20v-7', 'M22 20H2']);
export const PlugIcon = icon(['M9 2v6', 'M15 2v6', 'M6 8h12v3a6 6 0 0 1-12 0z', 'M12 17v5']);
export const FolderIcon = icon([
  'M3 7a2 2 0 0 1 2-2h4l2 2.5h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
]);
export const FileIcon = icon(['M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8z', 'M14 3v5h5']);
export const ImageIcon = icon([
  'M5 4h14a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z',
  'm4 16 4.5-4.5L20 20',
  'M15 9.5h.01',
]);
export const TerminalIcon = icon(['m4 17 6-5-6-5', 'M12 19h8']);
export const GlobeIcon = icon([
  'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z',
  'M3 12h18',
  'M12 3a14 14 0 0 1 0 18 14 14 0 0 1 0-18z',
]);
export const ClockIcon = icon(['M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z', 'M12 7v5l3 2']);
export const WarnIcon = icon(['M12 3 2 20h20z', 'M12 10v4', 'M12 17h.01']);
export const InfoIcon = icon(['M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z', 'M12 11v5', 'M12 8h.01']);
export const ErrorIcon = icon(['M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z', 'M12 7v6', 'M12 16h.01']);
export const UserIcon = icon(['M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z', 'M4 21a8 8 0 0 1 16 0']);
export const BotIcon = icon([
  'M6 8h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2z',
  'M12 8V4',
  'M9 13v2',
  'M15 13v2',
]);
export const SunIcon = icon([
  'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8z',
  'M12 2v2',
  'M12 20v2',
  'M4 12H2',
  'M22 12h-2',
  'm5 5 1.5 1.5',
  'm17.5 17.5 1.5 1.5',
  'm5 19 1.5-1.5',
  'M17.5 6.5 19 5',
]);
export const PinIcon = icon(['M12 17v5', 'M9 3h6l-1 7 4 4v3H6v-3l4-4z']);
export const ArchiveIcon = icon(['M3 4h18v4H3z', 'M5 8v11a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8', 'M10 12h4']);
export const SignOutIcon = icon(['M9 21H5a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h4', 'm16 17 5-5-5-5', 'M21 12H9']);
export const KeyIcon = icon(['M8 20a5 5 0 1 0 0-10 5 5 0 0 0 0 10z', 'm11.5 11.5 9-9', 'm17 6 3 3']);
export const LinkIcon = icon([
  'M10 13a5 5 0 0 0 7.5.5l3-3a5 5 0 0 0-7-7L12 5',
  'M14 11a5 5 0 0 0-7.5-.5l-3 3a5 5 0 0 0 7 7L12 19',
]);
