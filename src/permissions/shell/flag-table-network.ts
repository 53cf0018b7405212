/** Programs that reach other machines. Where to is a rule for WebFetch; these are the ways to carry something there. */
import type { ProgramRow } from './flag-table.js';

export const NETWORK_ROWS: readonly ProgramRow[] = [
  {
    programs: 'curl',
    writes:
      '-o -O -J -D -c --output --remote-name --remote-name-all --remote-header-name --output-dir --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save --create-dirs --ssl-sessions',
    sends:
      '-T -d -F -X -Q -t -u -b -H -E -x -U --upload-file --data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --form-escape --json --request --quote --prequote --postquote --telnet-option --user --cookie --header --proxy-header --cert --key --proxy --preproxy --proxy-user --socks4 --socks4a --socks5 --socks5-hostname --unix-socket --abstract-unix-socket --netrc --netrc-file --netrc-optional --mail-from --mail-rcpt --url-query --connect-to --resolve --doh-url --interface --oauth2-bearer --aws-sigv4 --referer --user-agent',
    executes: '-K --config --engine -w --write-out',
    valued: 'oDcTdFXQtubHExUKwAePrmyYzC',
  },
  {
    programs:
      'wget wget2 aria2c axel lftp ftp tftp sftp scp ssh sshfs autossh mosh telnet nc ncat netcat socat openssl smbclient rclone s3cmd http https httpie xh lynx w3m links elinks tcpdump mail mailx sendmail mutt',
    operands: 'always',
  },
  {
    programs: 'rsync',
    executes: '-e --rsh --rsync-path -M --remote-option --daemon --config --files-from --password-file',
    writes:
      '--log-file --write-batch --only-write-batch --backup-dir --temp-dir --partial-dir --remove-source-files --delete',
    valued: 'efMBT',
  },
  {
    programs: 'dig nslookup host drill kdig',
    executes: '-f -k',
  },
  {
    programs: 'ip',
    executes: '-b -batch -B -n -netns',
    subcommands: { harmless: '', never: 'netns: netn: net: vrf:' },
    singleDash: true,
  },
  {
    programs: 'ss',
    writes: '-D --diag',
    executes: '-F --filter -K --kill',
    valued: 'fAN',
  },
  {
    programs:
      'gh glab hub aws gcloud az kubectl helm terraform tofu heroku vercel netlify fly flyctl doctl wrangler firebase supabase',
    subcommands: { harmless: 'version help completion' },
  },
];
