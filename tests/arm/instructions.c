/* A plug-in of QEMU that counts instructions: all of a program, up to each time that it asks for the process group
 * MARK (see work.py), written to standard error as "@instructions COUNT". The declarations are those of QEMU's
 * plug-in interface, version 1, https://www.qemu.org/docs/master/devel/tcg-plugins.html; Debian packages no header. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_info;
enum { ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*run)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *at, uint64_t value);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
                                          void (*run)(qemu_plugin_id_t, unsigned int, int64_t, uint64_t, uint64_t,
                                                      uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));

#define GETPGID_64 155 /* on 64-bit ARM */
#define GETPGID_32 132 /* on 32-bit ARM */
#define MARK 0x48454152

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* Two threads that add at once would lose some; a decision is made on one while the others wait. */
static uint64_t instructions;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &instructions, qemu_plugin_tb_n_insns(block));
}

static void called(qemu_plugin_id_t id, unsigned int processor, int64_t number, uint64_t first, uint64_t a, uint64_t b,
                   uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
    (void)id, (void)processor, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
    if ((number == GETPGID_64 || number == GETPGID_32) && first == MARK)
        fprintf(stderr, "@instructions %llu\n", (unsigned long long)instructions);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
                                                               int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
