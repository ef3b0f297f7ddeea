"""Words that developers say for one another, in English and Chinese.

One group a line. A word may stand in several groups, one for each of its senses; words that are only about the same
thing ("database" and "index") stand in none together. English is written in its base form: who reads this stems it.
"""

from __future__ import annotations

GROUPS = """
authenticate, auth, authn, login, credential, 认证, 身份验证, 鉴权, 登录
login, log in, sign in, signin, logon, log on, 登录, 登陆
logout, log out, sign out, signout, log off, 退出登录, 登出, 注销登录
sign up, signup, register, registration, create account, 注册
authorization, authorisation, authz, 授权, 鉴权
permission, privilege, access right, entitlement, 权限
role, rbac, role based access, 角色
access control, acl, 访问控制
credential, login data, 凭证, 凭据
password, passwd, pwd, passphrase, passcode, 密码, 口令
pin, pin code, 个人识别码
username, user name, login name, 用户名, 账号
account, 账号, 账户, 帐号
two factor, 2fa, mfa, multi factor, second factor, 双因素, 两步验证, 多因素
one time password, otp, totp, one time code, 动态口令, 一次性密码
verification code, sms code, 验证码, 短信验证码
captcha, recaptcha, 图形验证码, 人机验证
single sign on, sso, 单点登录
oauth, oauth2, oidc, openid connect, 第三方登录
session, 会话
cookie, session cookie
token, access token, bearer token, jwt, 令牌
refresh token, renewal token, 刷新令牌
api key, access key, apikey, secret, 密钥
private key, secret key, 私钥, 密钥
public key, 公钥
secret, confidential, sensitive, 机密, 敏感
vault, secret store, secrets manager, key store, keystore, 密钥库
certificate, cert, x509, 证书
tls, ssl, https
certificate authority, root certificate, ca cert, 根证书
self signed, untrusted certificate, 自签名
key rotation, rotate keys, rotate secrets, 密钥轮换, 轮换
encrypt, cipher, encipher, 加密
encryption at rest, encrypted storage, 静态加密
decrypt, decipher, 解密
hash, digest, checksum, 哈希, 散列, 摘要
salt, 加盐
signature, signing, 签名
code signing, notarization, 签名, 公证
verify signature, signature check, 验签
tamper, manipulate, forge, falsify, 篡改, 伪造
vulnerability, security hole, cve, 漏洞
exploit, attack, 攻击, 利用漏洞
attacker, hacker, intruder, 黑客, 攻击者
breach, intrusion, compromised, hacked, 入侵, 被黑
data leak, data breach, exposed, 泄露, 泄漏
security patch, hotfix, 安全补丁
penetration test, pentest, 渗透测试
sql injection, sqli, sql注入
xss, cross site scripting, 跨站脚本
csrf, xsrf, request forgery, 跨站请求伪造
cors, cross origin, 跨域
content security policy, csp, 内容安全策略
sanitize, sanitise, escape, 转义, 过滤
ddos, denial of service, 拒绝服务
brute force, password guessing, credential stuffing, 暴力破解, 撞库
phishing, scam, 钓鱼
malware, virus, trojan, 病毒, 木马
antivirus, virus scanner, defender, 杀毒软件
sandbox, isolated, 沙箱, 沙盒
whitelist, allowlist, allow list, safelist, 白名单
blacklist, blocklist, denylist, block list, deny list, 黑名单
ban, suspend account, 封号, 封禁
reject, refuse, deny, 拒绝
grant, give access, 授予, 授权
revoke, withdraw, invalidate, 吊销, 撤销
impersonate, on behalf of, 冒充, 代理登录
superuser, root, 超级用户
sudo, elevated, privileged, run as root, 提权
audit log, audit trail, audit, 审计, 审计日志
compliance, regulatory, regulation, 合规
privacy, personal data, pii, 隐私, 个人信息
gdpr, data protection, 数据保护
consent, opt in, 用户同意
unsubscribe, opt out, 退订
anonymize, anonymise, pseudonymize, 匿名化, 脱敏
redact, mask, blank out, hide secrets, 脱敏, 打码, 掩码
unauthorized, 401, not logged in, 未授权, 未登录
forbidden, 403, access denied, permission denied, 无权限, 禁止访问
expired, expiry, run out, no longer valid, 过期, 失效, 到期
valid until, validity, lifetime, ttl, time to live, 有效期, 生存时间
renew, extend validity, 续期, 续签
fingerprint, touch id, biometric, 指纹
face id, face recognition, 人脸识别, 刷脸
firewall, iptables, ufw, security group, 防火墙
waf, web application firewall
vpn, wireguard, tunnel, 隧道
bastion, jump host, jump server, 跳板机, 堡垒机
zero trust, least privilege, 最小权限, 零信任
tenant, multi tenant, multitenancy, 租户, 多租户
invitation, 邀请
password reset, forgot password, reset password, 忘记密码, 重置密码
delete account, close account, cancel account, 注销账号, 销户
kick out, force logout, kicked off, 踢下线, 强制下线

database, db, 数据库
postgres, postgresql, pg, psql, pgsql
mysql, mariadb
sqlite, sqlite3
mongo, mongodb
sql server, mssql, sqlserver
oracle, plsql
redis, valkey
elasticsearch, opensearch, es
clickhouse, column store, olap, 列存
nosql, document store, 文档数据库
warehouse, data warehouse, dwh, 数仓, 数据仓库
data lake, lakehouse, 数据湖
schema, table structure, table definition, 表结构
migration, schema change, 迁移
ddl, alter table, create table, 改表
row, record, tuple, 记录
column, 字段
field, attribute, property, 字段, 属性
primary key, pk, 主键
foreign key, fk, reference constraint, 外键
unique constraint, unique key, unique index, 唯一约束, 唯一索引
auto increment, autoincrement, serial, identity column, 自增
sequence number, serial number, running number, 序列号, 流水号
index, indices, 索引
reindex, rebuild index, 重建索引
full text search, fulltext, fts, 全文检索, 全文搜索
slow query, slow sql, expensive query, 慢查询, 慢sql
query plan, explain plan, execution plan, 执行计划
full table scan, seq scan, sequential scan, 全表扫描
n+1, query per row, 循环查询
join, 联表, 关联查询
aggregate, group by, 聚合, 汇总
materialized view, 物化视图
stored procedure, 存储过程
database trigger, 触发器
transaction, 事务
atomic, all or nothing, 原子, 原子性
isolation level, transaction isolation, 隔离级别
dirty read, 脏读
phantom read, 幻读
lock, mutex, 加锁
unlock, release lock, 解锁, 释放锁
row lock, table lock, 行锁, 表锁
distributed lock, redlock, 分布式锁
optimistic lock, version column, cas, compare and swap, 乐观锁
pessimistic lock, select for update, 悲观锁
deadlock, 死锁, 互相等待
lock contention, lock wait, contention, 锁竞争, 锁等待
race, race condition, data race, 竞态, 竞争条件
connection pool, pooling, pgbouncer, hikari, 连接池
too many connections, connections exhausted, pool exhausted, 连接数, 连接耗尽
replica, replication, standby, secondary, 副本, 从库, 备库
primary, master, leader, 主库, 主节点
replication lag, replica lag, 主从延迟, 同步延迟
read replica, read only replica, read write splitting, 读写分离
failover, fail over, switchover, take over, 故障转移, 主备切换
high availability, ha, redundancy, 高可用, 冗余
shard, partitioned, 分片, 分库分表
partition, 分区
write ahead log, wal, journal, redo log, 预写日志
binlog, binary log, change data capture, cdc, 变更捕获
backup, back up, dump, snapshot, 备份, 快照
restore, recover, recovery, 恢复, 还原
point in time, pitr, time travel, 时间点恢复
vacuum, compaction, 压实, 整理碎片
bloat, fragmentation, 膨胀, 碎片
truncate table, empty table, 清空表
soft delete, logical delete, tombstone, deleted flag, 软删除, 逻辑删除
hard delete, purge, wipe, erase, 物理删除, 彻底删除, 清除
upsert, insert or update, on conflict
bulk insert, batch insert, mass insert, 批量插入
null, none, nil, undefined, 空值, 空指针
default value, fallback value, 默认值, 缺省值
orm, object relational, active record, 对象关系映射
prepared statement, bind parameter, parameterized query, 预编译, 参数化
collation, sort order, 排序规则
referential integrity, orphan, dangling, 孤儿数据, 悬空
cascade, 级联
normalize, denormalize, 范式, 反范式
consistency, 一致性
eventual consistency, 最终一致
inconsistent, mismatch, out of sync, diverge, disagree, 不一致, 对不上
source of truth, authoritative, single source, 唯一来源, 事实来源
geo query, spatial, postgis, geospatial, 地理空间
cursor, keyset, 游标
pagination, paging, page through, 分页, 翻页
cache, memoize, 缓存
cache hit, hit rate, hit ratio, 命中率
cache miss, cold cache, 缓存未命中
cache invalidation, invalidate cache, bust cache, purge cache, 缓存失效, 清缓存
evict, lru, 淘汰, 驱逐
cache stampede, thundering herd, dogpile, 缓存击穿, 缓存雪崩, 惊群
cache penetration, 缓存穿透
bloom filter, 布隆过滤器
stale, outdated, out of date, old version, 过时, 陈旧, 旧数据
warm up, preload, prefetch, prewarm, 预热, 预加载
hot key, hot spot, hotspot, 热点, 热key
key value, kv, kv store, 键值
blob, binary object, lob, 二进制
object storage, s3, bucket, oss, minio, 对象存储, 存储桶

kubernetes, k8s, kube, k3s
docker, container, podman, containerd, 容器
docker image, container image, image, 镜像
registry, image registry, docker hub, 镜像仓库
dockerfile, containerfile, image build, 镜像构建
docker compose, compose file, compose
node, worker node, 节点
cluster, 集群
namespace, 命名空间, 名字空间
helm, helm chart, chart
ingress, gateway, edge proxy, 网关, 入口
service mesh, istio, 服务网格
deploy, deployment, rollout, roll out, 部署
redeploy, deploy again, 重新部署
release, publish, ship, go live, launch, 发布, 发版, 上线
take offline, decommission, shut down, sunset, 下线, 停用
roll back, rollback, revert, back out, 回滚, 回退
revert, undo, take back, 撤销, 还原, 回退
canary, gradual rollout, staged rollout, phased rollout, 灰度, 金丝雀
blue green, zero downtime, rolling update, 蓝绿部署, 滚动更新, 不停机
feature flag, feature toggle, feature switch, kill switch, 功能开关, 特性开关, 开关
hotfix, emergency fix, urgent fix, 热修复, 紧急修复
maintenance window, downtime window, change window, 维护窗口, 停机窗口
downtime, outage, unavailable, offline, 停机, 宕机, 不可用
production, prod, live system, live environment, 生产, 生产环境, 线上
staging, preprod, pre production, uat, 预发, 预发布
development environment, dev environment, 开发环境
local machine, localhost, my machine, laptop, 本地, 本机
environment variable, env var, environment setting, dotenv, 环境变量
configuration, config, setting, preference, option, 配置, 设置
config file, settings file, ini file, 配置文件
infrastructure, infra, 基础设施
infrastructure as code, iac, terraform, opentofu
ansible, playbook
provision, spin up, bring up, 开通
server, host, machine, 服务器, 主机, 机器
virtual machine, vm, 虚拟机
vps, cloud server, ec2, droplet, 云主机, 云服务器
bare metal, physical server, 物理机, 裸机
data center, datacenter, data centre, colo, 机房, 数据中心
availability zone, az, region, 可用区, 地域
cloud, public cloud, 云端
on premise, on prem, self hosted, private deployment, 私有化, 本地部署, 自建
aws, amazon web services
gcp, google cloud
azure, microsoft cloud
aliyun, alibaba cloud, 阿里云
serverless, lambda, cloud function, faas, 无服务器, 云函数
cold start, startup time, boot time, 冷启动, 启动时间
autoscale, autoscaling, auto scaling, hpa, 自动扩缩容, 弹性伸缩
scale up, scale out, add capacity, 扩容
scale down, scale in, 缩容
replica count, number of replicas, 副本数
resource limit, cpu limit, memory limit, 资源限制
health check, healthcheck, liveness, readiness, probe, heartbeat, 健康检查, 探活
heartbeat, keepalive, keep alive, 心跳, 保活
restart, reboot, 重启
restart loop, crash loop, crashloopbackoff, keeps restarting, 反复重启, 不断重启
reload, hot reload, live reload, 热加载, 热更新, 重新加载
graceful shutdown, drain, graceful stop, sigterm, 优雅退出, 优雅停机
kill, terminate, sigkill, 杀掉, 终止, 杀进程
daemon, background process, systemd, service unit, 守护进程, 后台进程
load balancer, lb, elb, alb, 负载均衡
reverse proxy, nginx, 反向代理
proxy, forward proxy, 代理
cdn, cloudfront, cloudflare, edge cache, 内容分发
disk full, no space left, out of disk, disk space, 磁盘满, 磁盘空间, 空间不足
disk, drive, ssd, hard disk, 磁盘, 硬盘
volume, mount, persistent volume, pvc, 挂载
file system, filesystem, fs, 文件系统
nfs, network drive, shared drive, network share, 网络盘, 共享盘
swap, swap space, paging file, 交换分区
capacity, headroom, 容量
bandwidth, throughput, 带宽, 吞吐, 吞吐量
cost, expense, 成本, 费用
monitoring, observability, 监控, 可观测
alert, alarm, pager, 告警, 报警, 警报
false alarm, false positive, 误报
missed alarm, false negative, missed detection, 漏报
metric, measurement, 指标, 度量
dashboard, grafana, 仪表盘, 看板, 大盘
prometheus, promql
log, log file, 日志
log level, verbosity, debug output, 日志级别
log rotation, logrotate, 日志轮转, 日志切割
log collection, log shipping, elk, 日志收集, 日志采集
trace, opentelemetry, otel, jaeger, span, 链路追踪, 调用链
trace id, correlation id, request id, 追踪号, 请求id
telemetry, analytics, usage statistics, 埋点, 遥测
incident, outage, emergency, 事故, 故障
postmortem, post mortem, retrospective, root cause analysis, 复盘, 事后分析
root cause, culprit, 根因, 根本原因
runbook, playbook, operations manual, standard procedure, 操作手册, 应急手册, 预案
on call, oncall, on duty, duty roster, standby duty, 值班, 轮值
sla, slo, service level, error budget, 服务等级
disaster recovery, dr, business continuity, 容灾, 灾备, 灾难恢复
chaos engineering, fault injection, game day, 混沌工程, 故障演练
drill, rehearsal, dry run, 演练
dry run, simulate, preview mode, trial run, 试运行, 空跑
site reliability, sre, operations, ops, devops, 运维
cron, crontab, cron job, scheduled job, scheduled task, scheduler, 定时任务, 计划任务
bootstrap, initialize, initialise, init, 初始化
teardown, tear down, dismantle, 拆除, 销毁
clean up, cleanup, housekeeping, tidy, 清理, 打扫
retention, retention period, 保留期, 保留时间
artifact, build output, binary, 产物, 制品
artifact store, nexus, artifactory, package registry, 制品库
hostname, host name, machine name, 主机名

network, 网络
dns, name resolution, name server, nameserver, 域名解析
domain, domain name, 域名
ipv6, v6
port, listening port, 端口
socket, 套接字
websocket, ws, wss, long connection, 长连接
long polling, polling, 轮询, 长轮询
server sent events, sse, event stream
rest, rest api
graphql, gql
grpc, protobuf, protocol buffers, rpc, remote call, 远程调用
api, interface, 接口
endpoint, route, url path, 端点, 路由
webhook, callback, http callback, 回调, 钩子
payload, request body, message body, 请求体, 报文
query string, query parameter, url parameter, 查询参数
status code, response code, http status, 状态码
not found, 404, 找不到, 不存在
bad request, malformed, 格式错误
internal server error, server side error, 服务器错误, 内部错误
bad gateway, 502, 网关错误
service unavailable, 503, 服务不可用
gateway timeout, 504, 网关超时
too many requests, 429, throttled, rate limited, 请求过多, 被限流
rate limit, throttle, 限流, 频率限制
circuit breaker, 熔断, 断路器
degrade, graceful degradation, fallback, 降级
fallback, fall back, plan b, 备用, 兜底
retry, try again, attempt again, 重试
backoff, exponential backoff, wait longer, 退避, 指数退避
jitter, random delay, 抖动
timeout, time out, deadline exceeded, 超时
latency, delay, lag, response time, 延迟, 时延, 响应时间
idempotent, safe to repeat, 幂等
duplicate request, double submit, submitted twice, click twice, 重复提交, 重复请求
duplicate, twice, doubled, 重复
deduplicate, dedup, remove duplicates, 去重
disconnect, connection lost, connection reset, dropped connection, 断开, 断线, 掉线, 连接断开
reconnect, connect again, 重连, 断线重连
connection refused, cannot connect, econnrefused, unreachable, 连不上, 拒绝连接
handshake, negotiate, 握手, 协商
redirect, redirection, 重定向, 跳转
packet, datagram, frame, 数据包
packet loss, dropped packets, lossy, 丢包
mtu, packet size, 最大传输单元
ping, round trip, rtt, 往返时间
nat, port forwarding, port mapping, 端口映射, 端口转发
router, gateway, switch, 路由器, 交换机
wifi, wi-fi, wlan, wireless, 无线, 无线网络
ethernet, lan, wired network, 有线网络, 局域网
intranet, internal network, company network, corporate network, 内网
internet, public network, outside network, 公网, 外网
offline, without internet, no network, air gapped, 离线, 断网, 无网络
weak network, poor connection, bad reception, 弱网
mobile data, cellular, 4g, 5g, lte, 流量, 移动网络, 蜂窝网络
roaming, abroad, 漫游
peer to peer, p2p, webrtc, 点对点
traffic, requests per second, qps, rps, tps, 请求量
peak, rush, spike, surge, burst, 高峰, 峰值, 突增, 洪峰
load, workload, utilization, 负载
user agent, browser version
crawler, spider, scraper, bot, scrape, 爬虫, 抓取
sitemap, site map, 站点地图
seo, search engine optimization, 搜索引擎优化
url, link, address, uri, 链接, 网址
hyperlink, href, 超链接
short link, short url, 短链, 短链接
deep link, universal link, app link, url scheme, 深度链接
upload, send file, 上传
download, fetch, 下载
resume, continue interrupted, 断点续传, 续传
chunked, multipart, 分块, 分段
stream, 流式
compress, gzip, zip, 压缩
decompress, unzip, extract, unpack, inflate, 解压
mail server, smtp, postfix, mail relay, 邮件服务器
email, e-mail, mail, 邮件, 邮箱, 电子邮件
mailbox, inbox, imap, 收件箱
mailing list, newsletter, 邮件列表, 订阅邮件
spam, junk mail, unsolicited, 垃圾邮件
bounce, undeliverable, returned mail, 退信
attachment, 附件
ssh, remote shell, remote login, 远程登录
sftp, ftp, scp, file transfer, 文件传输

message queue, mq, queue, rabbitmq, 消息队列, 队列
topic, channel, subject, 主题, 频道
producer, publisher, sender, 生产者, 发送方
consumer, subscriber, receiver, listener, 消费者, 订阅者, 接收方
consumer group, 消费组
consumer offset, 消费位点
offset, position, 偏移, 位点
publish subscribe, pub sub, pubsub, 发布订阅
subscribe, subscription, 订阅
dead letter, dlq, dead letter queue, poison message, 死信, 死信队列
backlog, pile up, queue length, accumulate, 积压, 堆积
redelivery, at least once, delivered twice, 至少一次, 重复投递
exactly once, 精确一次
out of order, wrong order, reordered, 乱序, 顺序错乱
sort, 排序
message lost, lost messages, dropped message, 丢消息, 消息丢失
acknowledge, ack, 确认
event driven, event bus, 事件驱动
event sourcing, 事件溯源
saga, distributed transaction, two phase commit, 2pc, 分布式事务
outbox, transactional outbox, 本地消息表
worker, background worker, job runner, celery, 工作进程
background job, async task, background task, 后台任务, 异步任务
asynchronous, async, non blocking, nonblocking, 异步, 非阻塞
synchronous, sync, blocking, 同步, 阻塞
batch, bulk, en masse, 批量, 批处理
concurrency, parallel, simultaneous, 并发, 并行
thread, multithreading, 线程, 多线程
coroutine, asyncio, async await, 协程
event loop, main loop, 事件循环
thread pool, worker pool, executor, 线程池
thread safe, thread safety, reentrant, 线程安全
semaphore, permits, 信号量
inter process, ipc, named pipe, 进程间通信
backpressure, back pressure, flow control, 背压, 反压, 流控
leader election, raft, consensus, paxos, quorum, 选主, 共识
split brain, network partition, 脑裂
service registry, registry center, 注册中心
service discovery, service registration, 服务发现, 服务注册
microservice, 微服务
monolith, 单体, 单体应用
distributed, distributed system, 分布式
stateless, without state, 无状态
snowflake id, unique id, uuid, guid, 唯一标识, 唯一id
clock skew, clock drift, unsynchronized clock, 时钟偏差, 时钟漂移
middleware, interceptor, 中间件, 拦截器
upstream, upstream service, 上游
downstream, downstream service, 下游
third party, external service, external provider, 第三方, 外部服务
dependency injection, di, ioc, 依赖注入
orchestrate, workflow engine, airflow, 编排, 工作流
workflow, process flow, 流程, 工作流
state machine, fsm, state transition, 状态机, 状态流转

etl, elt, data pipeline, 数据管道
pipeline, ci, ci/cd, continuous integration, build server, 流水线, 持续集成
import, ingest, 导入
export, dump out, 导出
transform, convert, conversion, 转换
transcode, reencode, 转码
parse, parser, 解析
serialize, serialise, marshal, 序列化
deserialize, deserialise, unmarshal, 反序列化
encode, 编码
decode, 解码
garbled, mojibake, wrong encoding, unreadable characters, 乱码
character set, charset, utf-8, utf8, unicode, gbk, 字符集, 字符编码
line ending, line break, newline, crlf, lf, 换行, 换行符
whitespace, blanks, spaces, 空格, 空白
trim, strip, 去空格
delimiter, separator, 分隔符
csv, comma separated, tsv
spreadsheet, excel, xlsx, xls, google sheets, 表格, 电子表格
json, jsonl, ndjson
yaml, yml
parquet, columnar format
data quality, dirty data, bad records, 数据质量, 脏数据
backfill, reprocess, replay, recompute, 回填, 补数, 重跑, 重算
incremental, delta, 增量
full load, full sync, complete reload, 全量
late data, late arriving, delayed data, 迟到数据
watermark, high water mark, checkpoint, 水位线, 检查点
checkpoint, savepoint, save point, 检查点, 存档点
flink, stream processing, 流处理, 实时计算
dataframe, pandas
lineage, provenance, data origin, 血缘
data catalog, metadata, data dictionary, 元数据, 数据字典
data skew, skewed, uneven, 数据倾斜, 不均匀
report, 报表, 报告
business intelligence, bi, tableau, metabase, 商业智能
chart, graph, plot, diagram, 图表
outlier, anomaly, abnormal value, 异常值, 离群值
missing value, nan, 缺失值
median, p50, 中位数
percentile, p95, p99, quantile, tail latency, 分位数, 百分位
standard deviation, variance, 标准差, 方差
extrapolate, forecast, predict, 预测, 外推
round, 四舍五入, 取整, 舍入
decimal, fixed point, decimal places, 小数, 定点数
floating point, float, double precision, 浮点, 浮点数
precision, accuracy, accurate, exactness, 精度, 精确
imprecise, inaccurate, rounding error, precision loss, 不准, 误差, 精度丢失
overflow, integer overflow, wraparound, 溢出
underflow, below zero, 下溢
reconcile, reconciliation, cross check, account matching, 对账, 核对

crash, panic, abort, segfault, blow up, 崩溃, 闪退
core dump, coredump, crash dump, minidump, 核心转储
exception, throw, thrown, 异常, 抛出
stack trace, stacktrace, traceback, backtrace, call stack, 堆栈, 调用栈
error message, error text, 报错信息, 错误信息, 错误提示
error code, errno, return code, 错误码
exit code, exit status, return code, 退出码
out of memory, oom, memory, oom killed, memory exhausted, 内存溢出, 内存不足, 爆内存
memory, ram, heap, 内存
memory leak, leak, keeps growing, grows forever, 内存泄漏, 泄漏
memory usage, memory footprint, rss, memory consumption, 内存占用
stack overflow, infinite recursion, recursion depth, 栈溢出, 爆栈
garbage collection, gc, garbage collector, 垃圾回收
gc pause, stop the world, full gc
hang, hung, stuck, freeze, frozen, unresponsive, not responding, 卡住, 卡死, 无响应
slow, sluggish, takes long, takes forever, 慢, 很慢, 缓慢, 太慢
slow, latency, timeout, 慢, 超时, 延迟
pending, waiting, in progress, unfinished, 等待中, 待处理, 挂起
block, hold up, 阻塞, 卡住
stutter, jank, choppy, laggy, frame drop, 卡顿, 掉帧
speed up, accelerate, faster, optimize, optimise, 加速, 提速, 优化
performance, perf, efficiency, 性能, 效率
bottleneck, limiting factor, 瓶颈
profile, flame graph, 性能分析, 火焰图
benchmark, performance measurement, 基准测试, 跑分, 压测
load test, stress test, loadtest, k6, jmeter, 压测, 压力测试
cpu usage, high cpu, cpu load, busy cpu, 占用率, cpu飙高
spin, busy wait, busy loop, 空转, 忙等
infinite loop, endless loop, never ends, 死循环, 无限循环
overload, overwhelmed, saturated, 过载, 打满, 打爆
exhausted, depleted, used up, run out of, 耗尽, 用完
file descriptor, open files, fd, ulimit, file handle, 句柄, 文件描述符
flaky, intermittent, sporadic, unstable, sometimes fails, 偶发, 不稳定, 时好时坏
nondeterministic, non deterministic, not reproducible, 不确定性
deterministic, reproducible, repeatable, 确定性, 可复现, 可重复
reproduce, repro, reproduction, 复现, 重现
corrupt, damaged, broken file, 损坏, 坏掉
missing, lost, disappear, vanish, gone, 丢失, 不见, 消失
data loss, lost data, lost records, 数据丢失, 丢数据
white screen, blank page, blank screen, 白屏
black screen, screen stays dark, 黑屏
silently, silent failure, swallow, without notice, 静默, 悄悄, 吞掉
failure rate, error rate, 失败率, 错误率
broken, does not work, 坏了, 不工作, 失灵
defect, glitch, 缺陷, 毛病
workaround, bypass, circumvent, work around, 绕过, 变通, 规避
known limitation, limitation, restriction, 局限, 限制
pitfall, gotcha, trap, caveat, footgun, 坑, 陷阱
side effect, unintended, unwanted effect, 副作用
regression, worked before, 回归, 退化
break change, incompatible, 不兼容, 破坏性变更
compatible, backward compatible, 兼容, 兼容性, 向后兼容
collide, collision, clash, conflict, 冲突, 碰撞
off by one, fencepost, one too many, 差一
validate, verify input, 校验, 验证
deprecated, obsolete, legacy, superseded, 弃用, 废弃, 过时
legacy, old system, 遗留, 老系统, 旧系统
technical debt, tech debt, 技术债, 技术债务
investigate, diagnose, troubleshoot, debug, track down, 排查, 定位, 诊断, 调试
debugger, gdb, lldb, breakpoint, 断点, 调试器
dirty hack, kludge, quick fix, stopgap, 临时方案, 权宜之计
temporary, temporarily, provisional, interim, for now, 临时, 暂时
tmp, temp, temp file, temporary file, temp directory, 临时文件
assert, 断言
invariant, always true, 不变量
null pointer, npe, null reference, nil pointer, 空指针
undefined behavior, ub, 未定义行为
buffer overflow, out of bounds, out of range, 越界, 缓冲区溢出
linker error, undefined symbol, unresolved symbol, undefined reference, 链接错误, 符号未定义
import error, module not found, 找不到模块
circular import, circular dependency, cyclic dependency, 循环依赖, 循环引用
interrupted, cut off, 中断

delete, remove, drop, discard, get rid of, 删除, 移除, 去掉
rename, new name, 重命名, 改名
copy, clone, duplicate, 复制, 克隆, 拷贝
clear, empty out, 清空
reset, 重置, 复位
paste, clipboard, pasteboard, 粘贴, 剪贴板
replace, substitute, swap out, 替换
change over, switch over, cutover, 切换, 割接
merge, combine, unify, consolidate, 合并
split, separate, break up, divide, 拆分, 分割, 切分
extract, pull out, factor out, 提取, 抽取, 抽出
refactor, restructure, rework, 重构
rewrite, write again, reimplement, 重写
simplify, streamline, 简化
reuse, 复用, 共用
append, 追加
overwrite, clobber, overwritten, 覆盖, 覆写
truncate, cut off, shorten, clipped, 截断
skip, leave out, omit, ignore, 跳过, 忽略, 略过
enable, activate, turn on, switch on, 启用, 开启, 激活, 打开
disable, deactivate, turn off, switch off, 禁用, 关闭, 停用
toggle, 开关
save, persist, store, 保存, 存储, 持久化
autosave, auto save, automatic saving, 自动保存
render, draw, paint, 渲染, 绘制
refresh, reload, 刷新
synchronize, synchronise, sync, 同步
mirror, replicate, 镜像, 复制
archive, shelve, 归档, 存档
approve, sign off, sign-off, green light, 审批, 批准, 签字
prevent, 阻止, 防止
intercept, interceptor, 拦截, 拦截器
automatic, automate, 自动, 自动化
postpone, delay, put off, defer, reschedule, 推迟, 延期, 延后
limit, maximum, max, upper limit, cap, 上限, 最大值, 限制
minimum, min, lower limit, 下限, 最小值, 至少
quota, allowance, allotment, 配额, 限额, 额度
threshold, cutoff, limit, 阈值, 门槛
size limit, maximum size, too large, oversized, 大小限制, 过大, 太大
bytes, kb, mb, gb, kilobyte, megabyte, gigabyte, 字节
default, 默认, 缺省
naming convention, naming, 命名规范, 命名
style guide, coding style, coding standard, 代码规范, 编码规范, 代码风格
best practice, recommended way, 最佳实践
decision, decide, adr, 决策, 决定
never, prohibited, not allowed, forbidden, 禁止, 不准, 不许, 不得
special case, exempt, 例外, 特例
requirement, demand, 需求, 要求
specification, spec, 规格, 规范
architecture, system design, 架构
design document, design doc, rfc, proposal, 设计文档, 方案, 提案
trade off, tradeoff, compromise, 权衡, 取舍
alternative, other option, 替代方案, 备选
priority, precedence, importance, 优先级
urgent, critical, high priority, p0, blocker, 紧急, 加急
experiment, trial, try out, 实验, 试验
prototype, poc, proof of concept, mvp, 原型, 概念验证
shortcut, abbreviation, short form, 缩写, 简称
glossary, terminology, term, vocabulary, 术语, 术语表

repository, repo, code base, codebase, 仓库, 代码库
monorepo, single repository, 单仓
branch, feature branch, 分支
main branch, master branch, trunk, default branch, 主干, 主分支
trunk based, short lived branches, 主干开发
commit message, commit title, conventional commits, 提交信息, 提交说明
squash, squash merge, fold commits, 压缩提交
rebase, 变基
cherry pick, cherry-pick, backport, port back, 拣选, 移植
merge conflict, conflict, conflicting changes, 合并冲突, 冲突
pull request, pr, merge request, mr, 合并请求
force push, push force, rewrite history, 强推, 强制推送
stash, set aside, 暂存
release tag, version tag, git tag, 版本标签
git hook, pre commit, pre-commit, commit hook, 提交钩子
gitignore, ignored files, 忽略文件
large file, lfs, git lfs, 大文件
blame, annotate
bisect, 二分查找
protected branch, branch protection, 分支保护, 保护分支
code owners, codeowners, 代码负责人
code review, review, cr, peer review, 代码评审, 代码审查, 评审
reviewer, approver, 评审人, 审核人, 审批人
code freeze, freeze, release freeze, change freeze, 封版, 冻结, 封网
cut release, release branch, release train, 发布分支, 拉分支
version number, semver, semantic versioning, version scheme, 版本号, 语义化版本
bump version, raise version, version bump, 升版本
changelog, release notes, 更新日志, 变更日志, 发布说明
upgrade, newer version, 升级
downgrade, older version, 降级, 降版本
pin version, pinned, lock version, fixed version, 锁定版本, 固定版本
lockfile, lock file, package lock, 锁文件
dependency, third party library, 依赖, 依赖包
library, lib, 库, 类库
package, module
plugin, plug-in, extension, add-on, addon, 插件, 扩展
vendored, bundled copy
license, licence, open source license, copyright, 许可证, 许可, 版权
open source, oss, 开源
closed source, proprietary, commercial, 闭源, 专有, 商业
nightly build, daily build, snapshot build, 每日构建
beta, early access, preview version, 内测, 公测, 测试版
release candidate, rc, 候选版本
stable version, lts, long term support, 稳定版, 长期支持
end of life, eol, no longer supported, unsupported, 停止支持, 停止维护
build failure, build broken, red build, 构建失败, 编译失败
incremental build, build cache, 增量编译, 构建缓存
compiler, gcc, 编译器
toolchain, tool chain, 工具链
cross compile, 交叉编译
bundle, bundler, 打包, 打包工具
package manager, 包管理, 包管理器
pip, pypi, python packages
virtualenv, venv, virtual environment, 虚拟环境
installer, setup program, msi, dmg, 安装包, 安装程序
install, 安装
uninstall, deinstall, remove program, 卸载
self update, auto update, automatic update, 自动更新
runner, build agent, ci agent, build machine, 构建机
lint, linter, static analysis, static check, eslint, ruff, sonar, 静态检查, 静态分析
formatter, code format, auto format, prettier, black, gofmt, 格式化
type check, type checker, mypy, pyright, tsc, 类型检查
type annotation, type hint, typing, 类型注解, 类型标注
dead code, unused code, unreachable, 死代码, 无用代码
boilerplate, template, scaffold, skeleton, 模板, 脚手架, 样板
generated, code generation, codegen, generate code, 代码生成, 自动生成
documentation, docs, manual, handbook, wiki, 文档, 手册
tutorial, guide, walkthrough, howto, 教程, 指南

unit test, unittest, 单元测试, 单测
integration test, system test, 集成测试
end to end, e2e, ui test, browser test, playwright, 端到端
smoke test, sanity check, 冒烟测试
regression test, 回归测试
acceptance test, uat, user acceptance, 验收测试, 验收
manual testing, hand testing, exploratory testing, 手工测试
qa, quality assurance, tester, test team, 质量保证, 测试人员, 测试团队
test case, scenario, 测试用例, 用例, 场景
test data, fixture, seed data, sample data, dummy data, 测试数据, 种子数据, 夹具
mock, stub, fake, test double, 模拟, 打桩
snapshot test, golden file, golden test, approval test, 快照测试
property based, hypothesis, quickcheck, generative testing
fuzz, fuzzer, random input, 模糊测试
mutation test, 变异测试
test coverage, code coverage, coverage, 覆盖率
skip test, disabled test, quarantine, xfail, 跳过测试
test environment, test system, test server, 测试环境
test account, demo account, test user, 测试账号
test first, tdd, test driven, 测试驱动
contract test, pact, consumer driven, 契约测试
parameterized test, parametrize, table driven, 参数化
seed, random seed, fixed seed, 随机种子
visual regression, screenshot test, pixel comparison, 视觉回归
a/b test, ab test, split test, experiment group, ab实验, 对照实验
test device, device farm, real device, 真机
emulator, simulator, virtual device, 模拟器

team, squad, crew, 团队, 小组
owner, responsible, maintainer, in charge, accountable, 负责人, 责任人
contact person, point of contact, 对接人, 联系人
lead, team lead, tech lead, 组长, 技术负责人
manager, boss, supervisor, 经理, 主管, 领导
product manager, product owner, pm, 产品经理
project manager, scrum master, 项目经理
developer, engineer, programmer, coder, 开发者, 工程师, 程序员, 研发
frontend developer, front end engineer, 前端开发, 前端工程师
backend developer, back end engineer, 后端开发, 后端工程师
designer, ui designer, ux designer, 设计师, 美工
database administrator, dba, 数据库管理员
administrator, admin, sysadmin, 管理员
architect, software architect, 架构师
data scientist, analyst, 数据科学家, 分析师
colleague, coworker, teammate, team member, 同事, 队友
contractor, freelancer, outsourced, 外包
newcomer, new hire, newbie, onboarding, joiner, 新人, 新员工, 入职
leaver, offboarding, departed, 离职
hand over, handover, hand off, handoff, 交接, 移交
vacation, holiday, day off, absence, 休假, 请假, 假期
public holiday, bank holiday, national holiday, 节假日, 法定假日
working day, business day, workday, weekday, 工作日
working hours, office hours, business hours, 工作时间, 上班时间
deputy, substitute, backup person, 代理人, 替补, 顶班
customer, client, buyer, 客户, 顾客
stakeholder, interested party, 干系人, 相关方
partner, business partner, cooperation partner, 合作方, 合作伙伴
end user, visitor, 终端用户
support team, customer service, customer support, helpdesk, help desk, 客服
complaint, complain, 投诉, 抱怨
feedback, opinion, 反馈, 意见
ticket, jira, issue tracker, work item, 工单, 任务单
backlog item, user story, story, epic, 用户故事
todo, task list, action item, 待办, 待办事项
milestone, project phase, 里程碑
deadline, due date, cutoff date, latest date, 截止日期, 期限, 最后期限
sprint, iteration, 迭代, 冲刺
standup, stand-up, daily meeting, daily scrum, 站会, 晨会, 早会
meeting, conference, 会议, 开会
minutes, meeting notes, 会议纪要
retrospective, retro, lessons learned, 回顾会, 复盘, 经验教训
kickoff, kick-off, project start, 启动会
estimate, story points, effort, 估算, 工作量, 工时
escalate, 上报, 升级处理
announce, notify everyone, 公告, 通知
inform, notify, notification, let know, 通知, 告知
reminder, nudge, 提醒
chat, messenger, slack, instant message, 聊天
feishu, lark, 飞书
dingtalk, 钉钉
wechat, weixin, 微信
wecom, wechat work, 企业微信
chat group, chat channel, group chat, 群聊, 工作群
contract, agreement, 合同, 协议
legal, legal department, lawyer, 法务, 法律
finance department, accounting, bookkeeping, finance team, 财务, 会计, 记账
human resources, hr, personnel, 人事, 人力资源
salary, wage, payroll, pay slip, 工资, 薪资, 薪水
recruit, hiring, job interview, 招聘, 面试
attendance, clock in, punch in, time tracking, 考勤, 打卡
headquarters, head office, main office, 总部
subsidiary, branch office, 分公司, 子公司
remote work, home office, work from home, 远程办公, 居家办公
budget, funding, 预算
procurement, purchasing, purchase order, 采购
agreed, settled, consensus, 达成一致, 约定, 说好
pair programming, pairing, mob programming, 结对编程

nightly, every night, at night, overnight, midnight, 每晚, 夜间, 凌晨, 半夜
daily, every day, each day, per day, 每天, 每日
weekly, every week, once a week, 每周
monthly, every month, once a month, 每月, 按月
quarterly, every quarter, 每季度, 按季
yearly, annual, every year, 每年, 年度
weekend, saturday, sunday, 周末, 周六, 周日
monday, 周一, 星期一
friday, 周五, 星期五
sunday, 周日, 星期日, 星期天
end of month, month end, 月底, 月末
start of month, beginning of month, 月初
year end, end of year, 年底, 年末
leap year, february 29, 闰年
leap second, 闰秒
time zone, timezone, utc, local time, tz, gmt, 时区
daylight saving, dst, summer time, winter time, clock change, 夏令时
clock, system time, wall clock, 时钟, 系统时间
clock synchronization, ntp, chrony, time sync, 对时, 时间同步
timestamp, time stamp, epoch, unix time, 时间戳
date format, iso 8601, rfc 3339, 日期格式
duration, elapsed time, 时长, 持续时间, 耗时
interval, period, frequency, 间隔, 周期, 频率
timer, stopwatch, countdown, 定时器, 计时器, 倒计时
calendar, 日历
lunar calendar, 农历, 阴历
in advance, ahead of time, beforehand, 提前, 预先
late, delayed, overdue, 逾期, 迟到, 延误

frontend, front end, front-end, client side, 前端
backend, back end, back-end, server side, 后端, 服务端
full stack, fullstack, 全栈
javascript, js, ecmascript
typescript, ts
node, nodejs, node.js
react, reactjs, jsx
vue, vuejs, nuxt
angular, angularjs
nextjs, next.js
tailwind, utility classes
web page, webpage, website, site, 网页, 网站
landing page, home page, homepage, start page, 首页, 落地页, 主页
user interface, ui, gui, 界面, 用户界面
user experience, ux, usability, 用户体验, 易用性
layout, arrangement, 布局, 排版
responsive, mobile friendly, adaptive, 响应式, 自适应
component library, design system, ui kit, 组件库, 设计系统
button, btn, 按钮
icon, pictogram, glyph, 图标
logo, brand mark, 标志, 徽标
input field, text field, text box, textbox, 输入框, 文本框
dropdown, drop down, select box, combo box, picker, 下拉框, 下拉菜单
checkbox, tick box, 复选框, 勾选框
radio button, single choice, 单选框, 单选
multi select, multiple choice, 多选
slider, range control, 滑块
date picker, calendar widget, 日期选择器
form, form fields, 表单
dialog, dialogue, modal, popup, pop up, pop-up, 弹窗, 对话框
toast, snackbar, notification bar, 轻提示
tooltip, hint, hover text, 悬浮提示
tab, 标签页, 选项卡
menu, navigation, nav bar, navbar, sidebar, 菜单, 导航, 导航栏, 侧边栏
breadcrumb, navigation path, 面包屑
carousel, banner, slideshow, 轮播, 轮播图, 横幅
progress bar, loading bar, 进度条
spinner, loading indicator, loading animation, 加载动画
skeleton screen, placeholder, 骨架屏, 占位
infinite scroll, endless list, lazy list, 无限滚动
pull to refresh, swipe down, 下拉刷新
virtual list, windowing, virtual scroll, 虚拟列表, 虚拟滚动
drag and drop, drag, draggable, 拖拽, 拖动
hover, mouse over, 悬停
double click, 双击
long press, press and hold, 长按
swipe, flick, 滑动
gesture, touch gesture, 手势
pinch, zoom, magnify, 缩放, 放大
keyboard shortcut, hotkey, shortcut, key binding, keybinding, 快捷键
highlight, emphasize, mark, 高亮
dark mode, dark theme, night mode, 深色模式, 暗黑模式, 夜间模式
theme, skin, color scheme, 主题, 皮肤
contrast, legibility, 对比度
transparent, opacity, translucent, alpha channel, 透明, 透明度
rounded corners, border radius, 圆角
align, 对齐
flexbox, flex, css grid, 弹性布局
overlap, z-index, stacking order, 层级, 遮挡
font, typeface, 字体
font size, text size, 字号, 字体大小
ellipsis, text overflow, cut off text, 省略号
animation, transition, motion, 动画, 过渡
fullscreen, full screen, maximize, 全屏
fold out, expand, unfold, 展开
collapse, fold, hide section, 折叠, 收起
gray out, grey out, disabled button, 置灰
accessibility, a11y, screen reader, aria, 无障碍
internationalization, i18n, localization, l10n, 国际化, 本地化, 多语言
translation, 翻译, 译文
locale, language setting, 语言设置, 区域设置
right to left, rtl, arabic layout
simplified chinese, 简体, 简体中文
traditional chinese, 繁体, 繁體
placeholder text, hint text, 占位符
server side rendering, ssr, 服务端渲染
client side rendering, csr, spa, single page app, 单页应用
hydration, 水合
static site, ssg, static pages, 静态站点, 静态页面
code splitting, lazy load, 懒加载, 按需加载
tree shaking, dead code elimination, 摇树
minify, uglify, 压缩代码
bundle size, package size, 包体积, 包大小
first paint, lcp, page load time, web vitals, 首屏, 首屏时间
debounce, 防抖
throttle events, 节流
state management, redux, store, 状态管理
rerender, re-render, render again, 重新渲染, 重渲染
local storage, localstorage, session storage, 本地存储
service worker, pwa, progressive web app, offline first
browser, web browser, 浏览器
internet explorer, ie, old browser, 老浏览器
polyfill, shim, 垫片
browser extension, chrome extension, browser plugin, 浏览器插件
web view, webview, in app browser, 内嵌网页
micro frontend, microfrontend, 微前端
image, picture, photo, 图片, 照片
thumbnail, preview image, small image, 缩略图
screenshot, screen capture, screen shot, 截图, 截屏
screen recording, record screen, 录屏
avatar, profile picture, profile photo, 头像
watermark, stamped text, 水印
crop, cut out, trim image, 裁剪
jpeg, jpg
vector graphics, svg
qr code, scan code, 二维码, 扫码
barcode, ean, 条形码, 条码

mobile, phone, smartphone, cell phone, handset, device, 手机, 移动端, 设备
tablet, ipad, 平板
iphone, ios, apple phone, 苹果手机
android, android phone, 安卓
huawei, harmonyos, harmony, 华为, 鸿蒙
xiaomi, miui, 小米
app, application, 应用
mini program, mini app, wechat app, 小程序
desktop app, electron, tauri, 桌面端, 桌面应用
mac, macos, osx, macbook
windows, win10, win11, microsoft windows
operating system, os, 操作系统
app store, google play, play store, store listing, 应用商店, 应用市场
app review, store review, submission, 提审, 上架审核
testflight, internal testing, beta distribution
push notification, push message, apns, fcm, 推送, 消息推送
in app purchase, iap, 内购
background, 后台
foreground, 前台
wake up, wakeup, awake, 唤醒
sleep, standby, hibernate, suspend, 休眠, 待机, 睡眠
battery, power consumption, energy, battery drain, 电池, 耗电, 电量
power saving, low power, battery saver, doze, 省电, 低功耗
charge, recharge, 充电
permission prompt, permission dialog, 权限弹窗, 权限申请
contacts, address book, phone book, 通讯录
location, gps, position, geolocation, 定位, 位置
accelerometer, imu, 加速度计
gyroscope, imu, 陀螺仪
bluetooth, ble, 蓝牙
nfc, contactless, tap to pay, 近场通信
vibrate, haptic, 振动, 震动
screen size, resolution, display size, 屏幕尺寸, 分辨率
notch, safe area, cutout, 刘海, 安全区
orientation, landscape, portrait, screen rotation, 横屏, 竖屏
soft keyboard, on screen keyboard, virtual keyboard, 软键盘
input method, ime, 输入法
splash screen, launch screen, 启动页, 开屏
widget, home screen widget, 小组件, 桌面组件
swift, swiftui
kotlin, jetpack compose, android java
flutter, dart
react native, rn, expo
cross platform, multi platform, multiplatform, 跨平台, 多端
provisioning profile, signing profile, 描述文件
apk, aab, ipa, app package, 安装包
code obfuscation, obfuscate, proguard, r8, 混淆
jailbreak, rooted, rooted phone, 越狱
sim card, esim
text message, sms, short message, 短信
phone number, mobile number, telephone number, msisdn, 手机号, 电话号码
phone call, voice call, dial, 电话, 通话
video call, video conference, 视频通话, 视频会议

payment, pay, 支付, 付款
checkout, cash desk, pay page, 结账, 收银台, 结算
payment provider, payment gateway, psp, 支付渠道, 支付网关
wechat pay, 微信支付
credit card, debit card, bank card, 信用卡, 银行卡, 借记卡
card number, pan, 卡号
chargeback, dispute, payment dispute, 拒付, 争议
refund, reimburse, money back, pay back, 退款, 退钱
return goods, returns, rma, send back, 退货
exchange goods, replacement order, 换货
cancel order, order cancellation, 取消订单
invoice, bill, 发票, 账单, 开票
receipt, proof of purchase, 收据, 小票, 凭证
tax, vat, sales tax, gst, 税, 税费, 增值税
exchange rate, conversion rate, fx rate, 汇率
cents, minor unit, smallest unit, 最小单位
price, 价格, 定价
discount, price reduction, rebate, 折扣, 优惠, 打折
coupon, voucher, promo code, discount code, gift code, 优惠券, 代金券, 折扣码
gift card, prepaid card, 礼品卡
promotion, campaign, special offer, sale event, 促销, 营销活动
flash sale, seckill, limited time sale, 秒杀, 抢购
group buying, 拼团, 团购
singles day, black friday, big sale, 双十一, 大促
loyalty points, bonus points, reward points, 积分
member, membership, 会员
subscription plan, recurring payment, auto renew, 自动续费, 包月, 连续订阅
free trial, trial period, 试用, 免费试用, 试用期
paid plan, premium, pro plan, 付费版, 高级版
wallet, e-wallet, 钱包
remaining amount, remaining balance, 余额
top up, recharge, add funds, 充值
withdraw, cash out, payout, 提现, 取款
deposit, paid in advance, down payment, 押金, 订金, 预付款
transfer, wire, remittance, bank transfer, money transfer, 转账, 汇款
direct debit, sepa, automatic debit, 代扣, 自动扣款
deduct, charge, debit, 扣款, 扣费
double charge, charged twice, duplicate payment, paid twice, 重复扣款, 重复支付
settlement, clearing, settle, 结算, 清算
ledger, general ledger, double entry, account book, 账本, 总账, 复式记账
journal entry, booking, posting, accounting entry, 分录, 入账
write off, bad debt, 坏账
fee, commission, surcharge, handling fee, 手续费, 佣金
loan, lending, 贷款, 借款
repayment, installment, amortization, 还款, 分期
overdraft, overdrawn, 透支
insurance, insurance policy, 保险, 保单
claim settlement, insurance claim, 理赔
bank account, account number, iban, 银行账户
account statement, bank statement, 对账单, 流水
fraud, scam, fraudulent, 欺诈, 诈骗
risk control, fraud detection, anti fraud, 风控, 反欺诈
anti money laundering, aml, 反洗钱
know your customer, kyc, identity verification, real name, 实名, 实名认证
order book, matching engine, 撮合, 订单簿
cryptocurrency, crypto, bitcoin, 加密货币, 比特币
blockchain, smart contract, 区块链, 智能合约
revenue, turnover, income, sales figure, 营收, 收入, 营业额

shop, store, online shop, e-commerce, ecommerce, 商城, 店铺, 电商
seller, merchant, vendor, shopkeeper, 商家, 卖家, 商户
buyer, shopper, purchaser, 买家
sku, stock keeping unit, article number, item number, 货号, 商品编号
cart, shopping cart, basket, 购物车
wishlist, favorites, favourites, bookmark, 收藏, 收藏夹
order number, order id, order no, 订单号
unpaid order, pending payment, awaiting payment, 待付款, 未支付
stock, inventory, stock level, 库存
oversell, oversold, sell too many, negative stock, 超卖
out of stock, sold out, unavailable item, 缺货, 售罄
reserve stock, stock reservation, hold stock, 预占, 锁库存
deduct stock, decrement stock, reduce inventory, 扣库存, 扣减库存
restock, replenish, 补货
stocktake, inventory count, 盘点
warehouse, depot, storehouse, 仓库, 仓储
shelf, listed, 上架
delist, take off shelf, unlisted, 下架
supplier, vendor, 供应商
supply chain, 供应链
shipping, shipment, dispatch, delivery, 发货, 配送
logistics, freight, 物流, 货运
courier, parcel service, carrier, express delivery, 快递, 承运商, 快递公司
parcel, package, 包裹
tracking number, waybill, consignment number, 运单号, 快递单号
shipping address, delivery address, 收货地址
shipping cost, postage, freight charge, delivery fee, 运费, 邮费
delivered, proof of delivery, 签收
pickup, collect in store, click and collect, 自提
picking, pick list, order picking, 拣货
route planning, routing, vehicle routing, 路径规划, 路线规划
customs, customs clearance, import duty, 海关, 清关, 关税
cross border, overseas, 跨境, 海外
estimated arrival, eta, arrival time, 预计到达
product review, rating, star rating, 评价, 评分
recommendation, suggested items, 推荐
ranking, leaderboard, 排名, 排行, 排行榜
conversion rate, conversion funnel, 转化率
advertisement, ad, 广告
click through rate, ctr, 点击率
page views, pv, uv, visits, 访问量, 浏览量
active users, dau, mau, 活跃用户, 日活, 月活
retention rate, churn, 留存, 流失
booking, reservation, 预订, 预约
waiting list, queueing, 排队, 候补
point of sale, pos, cash register, 收银机
self service, kiosk, vending machine, 自助, 售货机

player, gamer, 玩家
item bag, backpack, player inventory, 背包
loot, drop rate, drops, 掉落, 掉率
gacha, loot box, lucky draw, lottery, 抽卡, 抽奖, 开箱
achievement, badge, trophy, 成就, 勋章
guild, clan, 公会, 帮派
matchmaking, match players, 匹配
multiplayer, online play, co op, 多人, 联机
netcode, lockstep, rollback netcode, frame sync, 帧同步
client prediction, lag compensation, 客户端预测, 延迟补偿
cheat, anti cheat, hack tool, 作弊, 外挂, 反作弊
save game, game save, save slot, 存档
collision detection, hitbox, collider, 碰撞检测, 碰撞体
pathfinding, path finding, navmesh, 寻路
unreal, ue4, ue5, 虚幻
shader, hlsl, glsl, 着色器
ray tracing, raytracing, path tracing, 光线追踪
frame rate, fps, frames per second, 帧率
tick rate, server tick, simulation step
background music, bgm, soundtrack, 背景音乐
volume, loudness, 音量
mute, silence, 静音
voice chat, voice channel, 语音聊天
hot fix resource, asset bundle, 资源包

ide, development environment, 集成开发环境
rich text, wysiwyg, 富文本
text selection, select text, selection, 选中, 选区
caret, text cursor, insertion point, 光标
undo, ctrl z, 撤销
redo, ctrl y, 重做
find and replace, search and replace, 查找替换
autocomplete, auto complete, completion, intellisense, 自动补全, 补全, 联想
syntax highlighting, code highlighting, 语法高亮
spell check, spelling, typo, misspelled, 拼写, 错别字
footnote, endnote, 脚注
table of contents, toc, outline, 目录, 大纲
page number, 页码
bullet list, 项目符号
indent, 缩进
template document, document template, 文档模板
collaborative editing, coediting, live editing, crdt, 协同编辑, 协作编辑
operational transform, ot, conflict free
revision history, version history, 历史版本, 版本历史, 修订记录
track changes, suggestion mode, 修订, 修订模式
draft, unpublished, 草稿
comment thread, annotation, remark, 批注, 评论
read only, readonly, write protected, 只读
editable, writable, 可编辑, 可写
share link, 分享链接
pivot table, cross table, 透视表
scan, scanner, 扫描
ocr, text recognition, character recognition, 文字识别
handwriting, handwritten, 手写
e-signature, electronic signature, 电子签名, 电子签章
knowledge base, wiki, 知识库
folder, directory, dir, 文件夹, 目录
file name, filename, 文件名
file path, path, 路径
absolute path, full path, 绝对路径
relative path, 相对路径
symlink, symbolic link, soft link, 软链接, 符号链接
file extension, suffix, file ending, 扩展名, 后缀
file type, mime type, content type, 文件类型
recycle bin, trash, wastebasket, 回收站
search, look up, lookup, 搜索, 查找, 检索
search term, keyword, search word, 关键词, 关键字
filter, narrow down, 筛选, 过滤
regular expression, regex, regexp, 正则, 正则表达式
wildcard, glob, 通配符
fuzzy search, approximate match, 模糊搜索, 模糊匹配
exact match, literal match, 精确匹配
tokenize, word segmentation, segmentation, 分词
stop word, stopword, 停用词
relevance, ranking score, 相关性, 相关度
inverted index, bm25, tf idf, 倒排, 倒排索引

machine learning, ml, 机器学习
artificial intelligence, ai, 人工智能
deep learning, neural network, neural net, 深度学习, 神经网络
large language model, llm, language model, gpt, 大模型, 语言模型
chatbot, assistant, conversational, 聊天机器人, 智能助手
agent, ai agent, 智能体
context window, context length, token limit, 上下文窗口, 上下文长度
hallucinate, made up, 幻觉, 胡编
embedding, vector, 向量, 嵌入
vector database, vector store, pgvector, 向量库, 向量数据库
similarity, cosine, 相似度
nearest neighbor, nearest neighbour, ann, knn, hnsw, 近邻
retrieval augmented, rag, 检索增强
rerank, rerank model, 重排, 重排序
train, 训练
fine tune, finetune, fine-tuning, lora, 微调
pretrain, 预训练
inference, serving, prediction service, 推理
model weights, checkpoint, weights, 权重, 模型文件
hyperparameter, hyper parameter, tuning parameter, 超参数, 超参
learning rate, lr, 学习率
batch size, 批大小, 批次大小
loss, loss function, 损失, 损失函数
overfit, memorized training, 过拟合
underfit, 欠拟合
converge, 收敛
gradient, gradient descent, backpropagation, 梯度, 梯度下降
exploding gradient, nan loss, diverging loss, 梯度爆炸
early stopping, stop training early, 早停
training set, training data, 训练集
validation set, dev set, 验证集
test set, holdout, held out, 测试集
evaluation, eval, 评估, 评测
label, annotation, ground truth, 标注, 打标
dataset, data set, corpus, 数据集, 语料
data augmentation, augment, 数据增强
feature engineering, feature extraction, 特征工程, 特征提取
feature store, 特征平台
target leakage, label leakage, 数据穿越, 标签泄漏
classification, classifier, 分类, 分类器
decision tree, random forest, 决策树
gradient boosting, xgboost, lightgbm
recall, sensitivity, 召回, 召回率
drift, data drift, concept drift, model decay, 漂移, 数据漂移
gpu, graphics card, video card, cuda, 显卡
gpu memory, vram, video memory, 显存
quantize, int8, 4 bit, 量化
distill, 蒸馏
mixed precision, fp16, bf16, half precision, 混合精度, 半精度
distributed training, ddp, multi gpu, 分布式训练, 多卡
model registry, mlflow, experiment tracking, wandb
jupyter, notebook, ipynb
natural language processing, nlp, 自然语言处理
speech recognition, asr, speech to text, transcription, 语音识别
speech synthesis, tts, text to speech, 语音合成
computer vision, image recognition, 计算机视觉, 图像识别
object detection, yolo, detector, 目标检测
reinforcement learning, rl, rlhf, 强化学习
recommendation system, recommender, recsys, 推荐系统

embedded, embedded device, microcontroller, mcu, 嵌入式, 单片机
firmware, device software, 固件
firmware update, ota, over the air, 空中升级, 固件升级
flash, reflash, burn, 烧录, 刷机
bootloader, boot loader, u-boot, 引导程序
sensor, probe, 传感器
actuator, motor, servo, 执行器, 电机
pin, gpio, 引脚
serial port, uart, serial console, rs232, rs485, 串口
usb, usb port, usb cable
canbus, 总线
interrupt, isr, irq, interrupt handler, 中断
watchdog, wdt, 看门狗
rtos, freertos, real time os, 实时系统
esp32, esp8266
raspberry pi, raspi, 树莓派
arm, arm64, aarch64, apple silicon
x86, x86_64, amd64, intel
eeprom, nvram, non volatile, 掉电保存
flash memory, nand, nor flash, 闪存
wear leveling, flash wear, write cycles, 磨损均衡, 擦写次数
power supply, voltage, power adapter, 电源, 电压
power loss, power cut, power failure, blackout, 断电, 掉电, 停电
temperature, heat, thermal, 温度
overheat, thermal throttling, 过热, 发烫
calibrate, 校准, 标定
led, indicator light, status light, 指示灯
plc, industrial controller, scada, 工控
modbus, opc ua, fieldbus
mqtt, mosquitto, iot broker
internet of things, iot, smart device, 物联网, 智能设备
smart home, home automation, home assistant, 智能家居
edge device, edge gateway, 边缘设备, 网关设备
edge computing, on device, 边缘计算, 端侧
device driver, kernel module, 驱动
kernel, linux kernel, 内核
pairing, pair device, bind device, 配对, 绑定
unbind, unpair, unlink, 解绑
factory reset, reset to factory, 恢复出厂
camera stream, rtsp, ip camera, video surveillance, 视频监控

latitude, longitude, coordinates, lat lon, 经纬度, 坐标
coordinate system, projection, crs, epsg, wgs84, 坐标系, 投影
altitude, elevation, above sea level, 海拔
unit conversion, convert units, 单位换算
metric system, imperial units, 公制, 英制
solver, numerical solver, 求解器
numpy, ndarray, scipy
medical record, health record, ehr, 病历

live stream, livestream, live broadcast, 直播
play video, playback, player, 播放, 播放器
subtitle, caption, 字幕
codec, ffmpeg, 编解码
h265, hevc
bitrate, bit rate, 码率
buffering, rebuffer, 缓冲
audio video sync, lip sync, av sync, 音画同步
recording, record audio, 录音
feed, timeline, news feed, 信息流, 动态
private message, direct message, dm, 私信
unread, unread count, red dot, 未读, 红点
comment, 评论, 留言
read receipt, seen, already read, 已读
mention, tagging someone, 提及
moderation, content review, content moderation, 内容审核
sensitive word, banned word, profanity, 敏感词, 违禁词
report abuse, flag content, 举报
nickname, display name, 昵称
rent, lease, tenancy, 租赁, 租房
charging station, charging pile, 充电桩
door lock, access card, entry card, 门禁, 门锁
crm, customer management, sales software, 客户管理
erp, enterprise software, sap
office automation, oa, 办公系统
back office, admin panel, admin console, management console, backend console, 管理后台, 后台管理
content management, cms, 内容管理
low code, no code, 低代码
rule engine, drools, 规则引擎
approval flow, approval workflow, 审批流
survey, questionnaire, poll, 问卷, 调查
ticket system, helpdesk system, 工单系统
map tile, tile server, 瓦片
identity card, id card, passport, 身份证, 护照
production line, assembly line, 产线, 生产线
quality inspection, quality control, 质检
spare part, replacement part, 备件

inherit, subclass, derive, 继承, 子类
base class, parent class, superclass, 父类, 基类
singleton, single instance, 单例
design pattern, 设计模式
recursion, 递归
magic number, hard coded, hardcoded, hard-coded, literal, 硬编码, 写死, 魔法数
ring buffer, circular buffer, 环形缓冲
buffer, 缓冲, 缓冲区
immutable, frozen, unchangeable, 不可变
mutable, modifiable, 可变
ownership, borrow checker, borrowing, 所有权
dynamic programming, memoization, 动态规划
layered architecture, layering, clean architecture, 分层, 分层架构
domain driven, ddd, bounded context, 领域驱动
business logic, domain logic, 业务逻辑
coupling, tightly coupled, 耦合
decouple, loosely coupled, 解耦
modular, 模块化
interface contract, api contract, 契约
api documentation, swagger, openapi, api docs, 接口文档
backward compatible api, versioned api, api version, 接口版本
sdk, client library, 开发包
command line, cli, terminal, console, shell, 命令行, 终端, 控制台
shell script, bash script, sh script, 脚本
flag, command line option, 命令行参数
standard output, stdout, 标准输出
standard error, stderr, 标准错误
working directory, cwd, current directory, 工作目录, 当前目录
dotfile, rc file, shell profile
python, py, cpython
golang, go language
rust, rustc
c++, cpp
c#, csharp, dotnet, .net
powershell, pwsh
webassembly, wasm
gunicorn, wsgi, uwsgi
regenerate, generate again, 重新生成
idle, unused, inactive, 空闲, 闲置
available, 可用, 可用性
reliable, robust, dependable, 可靠, 健壮
stable, stability, steady, 稳定, 稳定性
scalable, 可扩展, 扩展性
maintainable, 可维护
readability, understandable, 可读性
portable, 可移植, 移植性
nested, 嵌套
flat, flatten, 扁平, 展平
uppercase, upper case, capital letters, 大写
lowercase, lower case, small letters, 小写
case sensitive, case insensitive, 大小写
snake case, underscore names, 下划线命名
camel case, camelcase, 驼峰
prefix, beginning, leading, 前缀
suffix, ending, trailing, 后缀
special character, symbol, punctuation, 特殊字符, 标点
"""
