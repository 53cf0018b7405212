import { describeFlows } from './flows.js';

describeFlows('claude-code');
