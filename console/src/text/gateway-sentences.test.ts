import { describe, expect, it } from 'vitest';
import { gatewaySentence, gatewayTitle } from './gateway-sentences.js';

describe('sentences of the gateway in Chinese', () => {
  it('have what they are about in them, word for word', () => {
    expect(gatewayTitle('Run npm test\n&& $1', 'zh')).toBe('运行 npm test\n&& $1');
    expect(gatewaySentence('No rule is about the command `the tool $2`, and the mode is ask.', 'zh')).toBe(
      '没有规则涉及命令 `the tool $2`，当前模式为“询问”。',
    );
    const again =
      'The rule `Bash(rm:*)` of this session asks about the command `rm a`. It was allowed before and had begun when the gateway stopped, so it may have done its work already.';
    expect(gatewaySentence(again, 'zh')).toBe(
      '规则 `Bash(rm:*)` 要求就命令 `rm a`询问。它此前已获允许，并在网关停止时已经开始，因此可能已经执行过。',
    );
    expect(gatewaySentence('denied by ana (console): not the tool now', 'zh')).toBe(
      '由 ana 拒绝（console）: not the tool now',
    );
  });

  it('stay as they are in English, and where they are not known', () => {
    expect(gatewayTitle('Run npm test', 'en')).toBe('Run npm test');
    expect(gatewaySentence('Something new.', 'zh')).toBe('Something new.');
  });
});
